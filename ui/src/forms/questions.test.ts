import { describe, expect, it } from 'vitest';
import { parse, write } from '../text/json';
import { type Choice, answerData, isAnswered, noChoice, promptOf, questionsOf } from './questions';

const DATA = parse(`{"questions": [
  {"question": "Which environment?", "options": [{"label": "Staging", "description": "12 tables"}, "Production"]},
  {"question": "Which parts?", "options": ["api", "web", "docs"], "multiple": true},
  "Anything else?"
]}`);
const questions = questionsOf(DATA);

const choose = (chosen: string[], other = ''): Choice => ({ chosen, other, useOther: other !== '' });

describe('questions', () => {
  it('are read with their options', () => {
    expect(questions.map((one) => [one.text, one.options.length, one.multiple])).toEqual([
      ['Which environment?', 2, false],
      ['Which parts?', 3, true],
      ['Anything else?', 0, false],
    ]);
    expect(promptOf(questions)).toBe(
      'Which environment? (options: Staging, Production)\nWhich parts? (options: api, web, docs)\nAnything else?',
    );
    expect(questionsOf(null)).toEqual([]);
  });

  it('are answered in their order, lists where several may be chosen', () => {
    const choices = [choose(['Production']), choose(['docs', 'api'], 'tests'), choose([], 'no')];
    expect(write(answerData(questions, choices))).toBe('{"answers":["Production",["api","docs","tests"],"no"]}');
  });

  it('need an answer each', () => {
    const [one, many, free] = questions;
    if (one === undefined || many === undefined || free === undefined) throw new Error('three questions');
    expect(isAnswered(one, noChoice(one))).toBe(false);
    expect(isAnswered(one, choose(['Staging']))).toBe(true);
    expect(isAnswered(one, choose(['No such option']))).toBe(false);
    expect(isAnswered(one, { chosen: [], other: '  ', useOther: true })).toBe(false);
    expect(isAnswered(one, choose([], 'skip it'))).toBe(true);
    expect(isAnswered(one, choose(['Staging'], 'and more'))).toBe(false);
    expect(isAnswered(many, choose(['api', 'web'], 'and more'))).toBe(true);
    expect(isAnswered(free, noChoice(free))).toBe(false);
    expect(isAnswered(free, choose([], 'x'))).toBe(true);
  });
});
