// Build: the console's sources → files that any HTTP server can serve. `node console/build.ts <folder>`.
// Invariants:
//   - No downloads: everything comes from this repository and node_modules.
//   - The build is reproducible: the same sources give the same bytes.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build } from "vite";

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("usage: node console/build.ts <folder>");

await build({
  root: fileURLToPath(new URL(".", import.meta.url)),
  configFile: false,
  envDir: false,
  base: "./", // the server sets the page's own URLs, the rest derive from import.meta.url
  plugins: [react()],
  logLevel: "warn",
  build: {
    outDir: resolve(folder), // not below root
    emptyOutDir: true,
    target: ["chrome123", "firefox120", "safari17.5"],
    manifest: "manifest.json",
    modulePreload: { polyfill: false }, // an inline script, which the page's policy blocks
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000, // kB; test/console/console.test.ts measures the first load
  },
});
