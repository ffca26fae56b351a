import { describe, expect, it } from 'vitest';
import { readDiff } from './diff';

describe('a unified diff', () => {
  it('counts and marks its lines', () => {
    const diff = '--- a/README.md\n+++ b/README.md\n@@ -1,2 +1,3 @@\n ## Install\n-npm i\n+cargo install\n+# more\n';
    const { lines, added, removed } = readDiff(diff);
    expect([added, removed]).toEqual([2, 1]);
    expect(lines.map((line) => line.kind)).toEqual(['header', 'header', 'hunk', 'same', 'remove', 'add', 'add']);
  });

  it('takes lines within a hunk for what they are, also when they look like headers', () => {
    const { lines, added, removed } = readDiff('@@ -1 +1 @@\n--- old rule\n+++ new rule\n');
    expect(lines.map((line) => line.kind)).toEqual(['hunk', 'remove', 'add']);
    expect([added, removed]).toEqual([1, 1]);
  });
});
