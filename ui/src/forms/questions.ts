import { type Json, field, itemsOf, object, string, textOf, write } from '../text/json';

/** A question with the options it came with. */
export interface Question {
  text: string;
  options: { label: string; description: string | null }[];
  multiple: boolean;
}

/** What the person chose for one question; `other` is free text, sent when it is on. */
export interface Choice {
  chosen: string[];
  other: string;
  useOther: boolean;
}

/** The questions in `data.questions`. */
export function questionsOf(data: Json | null): Question[] {
  return itemsOf(data, 'questions').map((one) => {
    const multiple = field(one, 'multiple');
    return {
      text: label(one, 'question'),
      options: itemsOf(one, 'options').map((option) => ({
        label: label(option, 'label'),
        description: textOf(option, 'description') ?? null,
      })),
      multiple: multiple?.type === 'boolean' && multiple.value,
    };
  });
}

function label(json: Json, name: string): string {
  return json.type === 'string' ? json.value : (textOf(json, name) ?? write(json));
}

/** The prompt that stands for questions (contract 29). A request whose prompt says something else shows both. */
export function promptOf(questions: readonly Question[]): string {
  return questions
    .map(({ text, options }) =>
      options.length === 0 ? text : `${text} (options: ${options.map((option) => option.label).join(', ')})`,
    )
    .join('\n');
}

/** Nothing chosen yet. A question without options has nothing but free text. */
export function noChoice(question: Question): Choice {
  return { chosen: [], other: '', useOther: question.options.length === 0 };
}

/** The answers that were given to one question. */
export function answersTo(question: Question, choice: Choice): string[] {
  const chosen = question.options.map((option) => option.label).filter((one) => choice.chosen.includes(one));
  const other = choice.useOther && choice.other.trim() !== '' ? [choice.other.trim()] : [];
  return [...chosen, ...other];
}

/** Whether every question has an answer, and a single choice no more than one. */
export function isAnswered(question: Question, choice: Choice): boolean {
  const count = answersTo(question, choice).length;
  const openText = choice.useOther && choice.other.trim() === '';
  return count > 0 && !openText && (question.multiple || count === 1);
}

/** `{"answers": […]}`: one entry per question in their order, a list of texts where several may be chosen. */
export function answerData(questions: readonly Question[], choices: readonly Choice[]): Json {
  const items = questions.map((question, at): Json => {
    const answers = answersTo(question, choices[at] ?? noChoice(question));
    return question.multiple ? { type: 'array', items: answers.map(string) } : string(answers[0] ?? '');
  });
  return object([['answers', { type: 'array', items }]]);
}
