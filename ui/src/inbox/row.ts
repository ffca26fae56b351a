import type { RequestItem } from '../bindings/RequestItem';

/** The two lines of a row. A question stands above its options, which its prompt holds in brackets (contract 29). */
export function rowLines({ kind, prompt, summary }: RequestItem): { title: string; below: string } {
  if (kind === 'question') {
    const [first = '', ...more] = prompt.split('\n');
    const options = /^(.*) \(options: (.*)(?:\)|…)$/s.exec(first);
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    if (options !== null) return { title: `${options[1] ?? ''}${others}`, below: options[2] ?? '' };
    if (summary === prompt) return { title: prompt, below: '' };
  }
  return { title: prompt, below: summary };
}
