import { defineConfig } from 'vite';
import { licences } from './licences.mjs';

// The server that the development server asks for everything but the page.
const server = process.env.TERRAPIN_URL ?? 'http://127.0.0.1:8080';
const services = ['/api', '/sparql', '/search', '/lookup', '/reverse', '/feedback', '/format', '/tiles', '/tiles.json', '/w/', '/services', '/words'];

// Names without hashes: the program has a list of them, and browsers ask by ETag whether a file is another one.
export default defineConfig({
  base: '/page/',
  plugins: [licences()],
  worker: { format: 'es', rollupOptions: { output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' } } },
  build: {
    outDir: 'out',
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      output: { entryFileNames: 'page.js', chunkFileNames: '[name].js', assetFileNames: '[name][extname]' },
    },
  },
  server: { proxy: Object.fromEntries(services.map((path) => [path, server])) },
});
