import { flushSync, mount, unmount } from 'svelte';
import { expect, it } from 'vitest';
import { request } from '../transport/fake-data';
import WhatRuns from './WhatRuns.svelte';
import { contentOf } from './content';

// All of it Cyrillic: a word of another language in running text, and no program that anybody means.
const PROGRAM = 'сору';

function shown(command: string): string {
  const detail = request({ key: 'k', kind: 'approval', prompt: 'Run it?', source: 'bot', tool: 'shell', age: 5, arguments: JSON.stringify({ command }) });
  const page = mount(WhatRuns, { target: document.body, props: { content: contentOf(detail), kind: 'approval' } });
  flushSync();
  const text = document.querySelector('.cmd')?.textContent ?? '';
  void unmount(page);
  document.body.innerHTML = '';
  return text;
}

it('marks each letter of a program that only looks like another, and no word beside it', () => {
  expect(shown(`${PROGRAM} a b`)).toContain('U+0441');
  expect(shown(`echo ${PROGRAM}`)).toContain(PROGRAM);
});
