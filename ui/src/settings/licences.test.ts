import { expect, it } from 'vitest';
import packages from '../../package.json';
import { licences } from './licences';

it('has the licence of every package that the page is made of', async () => {
  const found = await licences();
  const names = found.map((one) => one.name);
  for (const name of [...Object.keys(packages.dependencies), 'svelte']) expect(names).toContain(name);
  for (const { text } of found) expect(text).toMatch(/Permission (is hereby granted|to use, copy)/);
});
