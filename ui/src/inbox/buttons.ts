import type { RequestChoice } from '../bindings/RequestChoice';

/** A button that decides. */
export interface Button {
  /** Whether it is a yes. */
  ok: boolean;
  /** Which of the request's own choices it stands for; null for a plain yes or no. */
  choice: string | null;
  label: string;
  /** The key that stands for it too. */
  key: 'approve' | 'deny' | null;
}

/** The buttons for a request, in order: its own choices where it brought any, else a yes and a no. */
export function buttonsOf(kind: string, choices: readonly RequestChoice[], edited: boolean): Button[] {
  if (choices.length === 0) {
    return [
      { ok: false, choice: null, label: noFor(kind), key: 'deny' },
      { ok: true, choice: null, label: yesFor(kind, edited), key: 'approve' },
    ];
  }
  const first = (effect: string): string | undefined => choices.find((one) => one.effect === effect)?.id;
  const [approve, deny] = [first('approve'), first('deny')];
  return choices.map(({ id, label, effect }) => {
    // Nothing but what says that it approves does.
    const ok = effect === 'approve';
    return {
      ok,
      choice: id,
      label: ok && edited ? `${label} (with edits)` : label,
      key: id === approve ? 'approve' : id === deny ? 'deny' : null,
    };
  });
}

function yesFor(kind: string, edited: boolean): string {
  switch (kind) {
    case 'input':
      return 'Send answer';
    case 'question':
      return 'Answer';
    case 'authorization':
      return 'I have signed in';
    default:
      return edited ? 'Approve with edits' : 'Approve';
  }
}

function noFor(kind: string): string {
  return ['input', 'question', 'authorization'].includes(kind) ? 'Decline' : 'Deny';
}
