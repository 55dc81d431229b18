import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npm run dev` finds the gateway's admin port. */
const ADMIN_ORIGIN = process.env['TOLLGATE_ADMIN_ORIGIN'] ?? 'http://127.0.0.1:4142';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2023',
    // The content security policy allows no data: fonts or scripts, and small files are cached as well as large ones.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
  },
  worker: { format: 'es' },
  server: { host: '127.0.0.1', proxy: { '/api': { target: ADMIN_ORIGIN } } },
});
