import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// The page runs under `script-src 'self'; style-src 'self'`: nothing is inlined.
export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [svelte()],
  define: { __FAKE__: JSON.stringify(mode === 'fake' || mode === 'development') },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.ts'],
    restoreMocks: true,
  },
}));
