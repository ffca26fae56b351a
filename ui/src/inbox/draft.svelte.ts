import type { Edit } from '../forms/edit';
import { type Choice, type Question, noChoice } from '../forms/questions';
import { type Field, type Values, initialValues } from '../forms/schema';

/** What the person has typed and chosen for a request so far. */
export class Draft {
  reason = $state('');
  values = $state<Values>({});
  choices = $state<Choice[]>([]);
  /** What the person makes of the arguments; null while they are not edited. */
  edit = $state<Edit | null>(null);
  /** Whether an answer was tried that was not complete: from then on what is wrong is said. */
  tried = $state(false);

  /** Whether identical requests get the same answer. */
  all = $state(false);

  constructor(fields: readonly Field[], questions: readonly Question[]) {
    this.values = initialValues(fields);
    this.choices = questions.map(noChoice);
  }
}

const drafts = new Map<string, Draft>();

/** The draft for a request; it survives looking at another one meanwhile. */
export function draftFor(key: string, fields: readonly Field[], questions: readonly Question[]): Draft {
  const draft = drafts.get(key) ?? new Draft(fields, questions);
  drafts.set(key, draft);
  return draft;
}

/** The request is decided: nothing of its draft is kept. */
export function dropDraft(key: string): void {
  drafts.delete(key);
}
