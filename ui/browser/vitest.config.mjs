import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  cacheDir: fileURLToPath(new URL('../node_modules/.vite-browser', import.meta.url)),
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: { environment: 'node', include: ['*.test.mjs'], testTimeout: 60_000, hookTimeout: 60_000 },
});
