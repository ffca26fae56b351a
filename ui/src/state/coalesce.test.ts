import { expect, it } from 'vitest';
import { coalesce } from './coalesce';

it('turns a burst into two runs, the last of them after the burst', async () => {
  const done: number[] = [];
  let state = 0;
  const fetch = coalesce(async () => {
    const seen = state;
    await new Promise((resolve) => setTimeout(resolve, 1));
    done.push(seen);
  });
  const all = [];
  for (state = 1; state < 50; state += 1) all.push(fetch());
  await Promise.all(all);
  expect(done).toEqual([1, 50]);
});

it('misses nothing that is asked for just as it ends', async () => {
  for (let moments = 0; moments < 8; moments += 1) {
    let runs = 0;
    const fetch = coalesce(async () => {
      runs += 1;
    });
    void fetch();
    for (let at = 0; at < moments; at += 1) await Promise.resolve();
    await fetch();
    expect(runs, `asked ${moments} moments later`).toBe(2);
  }
});

it('runs again after a failure', async () => {
  let runs = 0;
  const fetch = coalesce(async () => {
    runs += 1;
    if (runs === 1) throw new Error('gone');
  });
  await expect(fetch()).rejects.toThrow('gone');
  await fetch();
  expect(runs).toBe(2);
});
