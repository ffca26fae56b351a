import type { SenderItem } from '../bindings/SenderItem';
import type { SenderSetup } from '../bindings/SenderSetup';
import { initials } from '../text/words';

/** The colours that a sender may have. */
export const COLOURS = ['blue', 'green', 'amber', 'red', 'violet', 'teal', 'pink', 'grey'] as const;

/** The most that either limit may be. */
const HIGHEST = 100_000;

/** A sender's set-up as the form holds it: numbers as typed. */
export interface SenderForm {
  name: string;
  initials: string;
  /** Nothing lets the host choose. */
  colour: string;
  maxOpen: string;
  perMinute: string;
  mayEdit: boolean;
  ownChoices: boolean;
}

export function emptySender(): SenderForm {
  return { name: '', initials: '', colour: '', maxOpen: '', perMinute: '', mayEdit: false, ownChoices: false };
}

export function readSender(item: SenderItem): SenderForm {
  return {
    name: item.name,
    initials: item.initials,
    colour: item.colour,
    maxOpen: String(item.max_open),
    perMinute: String(item.per_minute),
    mayEdit: item.may_edit,
    ownChoices: item.own_choices,
  };
}

/** What to send: only what was said; the rest is as usual, or stays. */
export function writeSender(form: SenderForm): SenderSetup {
  const setup: SenderSetup = { name: form.name.trim(), may_edit: form.mayEdit, own_choices: form.ownChoices };
  const letters = form.initials.trim();
  if (letters !== '') setup.initials = letters;
  if (form.colour !== '') setup.colour = form.colour;
  const open = number(form.maxOpen);
  if (open !== null) setup.max_open = open;
  const rate = number(form.perMinute);
  if (rate !== null) setup.per_minute = rate;
  return setup;
}

/** What is wrong with it, by field. */
export function wrongSender(form: SenderForm): Partial<Record<'name' | 'initials' | 'maxOpen' | 'perMinute', string>> {
  const wrong: ReturnType<typeof wrongSender> = {};
  const limit = `Enter a whole number from 1 to ${HIGHEST.toLocaleString('en')}`;
  if (form.name.trim() === '') wrong.name = 'Give it a name';
  else if ([...form.name.trim()].length > 64) wrong.name = 'Keep the name under 65 characters';
  if ([...form.initials.trim()].length > 2) wrong.initials = 'One or two letters';
  if (isWrong(form.maxOpen)) wrong.maxOpen = limit;
  if (isWrong(form.perMinute)) wrong.perMinute = limit;
  return wrong;
}

/** The letters that stand for it while none were typed. */
export const lettersOf = (form: SenderForm): string => form.initials.trim() || initials(form.name);

/** A limit as typed; nothing where nothing, or no number, was typed. */
function number(text: string): number | null {
  const digits = text.trim();
  if (!/^\d{1,6}$/.test(digits)) return null;
  const value = Number(digits);
  return value >= 1 && value <= HIGHEST ? value : null;
}

const isWrong = (text: string): boolean => text.trim() !== '' && number(text) === null;
