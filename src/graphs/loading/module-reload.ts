// Fresh modules: lets the user's files be loaded anew in the same process, and knows which they are. For `dev` only.
// Node keeps a module for ever under its address; another query makes another address, and so another module.
// Invariants:
//   module-reload.1. Only files of the project get a new address: those in its folder, and those that they import outside of
//        node_modules, such as a linked package of a workspace. Packages, and files of this server, stay one copy.
//   module-reload.2. A module imports those of its own generation, also later: old and new code do not mix.
//   module-reload.3. What the project imports is known, also when it is not there: what is missing may come.
import { createRequire, registerHooks } from "node:module";
import { extname, join, sep } from "node:path";
import { filePath, renewSources } from "./source-hooks.ts";
import { possibleFiles } from "./source-resolve.ts";

export interface FreshModules {
  /** Paths of the files that were loaded, or asked for. */
  readonly files: () => readonly string[];
  /** What the server loads from now on is loaded anew, with all that it imports in the project. */
  readonly renew: () => void;
}

const QUERY = "holdpoint";
/** A project may have this server inside. */
const SERVER = join(import.meta.dirname, "../..") + sep;
/** It imports the files that langgraph.json names. */
const LOADER = join(import.meta.dirname, `import-user-module${extname(import.meta.filename)}`);

/** @param folder the project: what is in it, outside of node_modules, is the user's own */
export function createFreshModules(folder: string): FreshModules {
  const files = new Set<string>();
  const outside = new Set<string>();
  const cache = createRequire(join(folder, "noop.js")).cache;
  let generation = 0;
  const isOwn = (path: string | null, parent: string | null = null): path is string =>
    path !== null &&
    !path.includes(`${sep}node_modules${sep}`) &&
    !path.startsWith(SERVER) &&
    (path.startsWith(folder + sep) || outside.has(path) || parent === LOADER || isOwn(parent)); // module-reload.1
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const parent = filePath(context.parentURL);
      try {
        const resolved = nextResolve(specifier, context);
        const path = filePath(resolved.url);
        if (!isOwn(path, parent)) return resolved;
        files.add(path);
        if (!path.startsWith(folder + sep)) outside.add(path);
        return {
          ...resolved,
          url: inGeneration(resolved.url, isOwn(parent) ? ownGeneration(context.parentURL) : generation),
        };
      } catch (error) {
        const missing = /^\.{0,2}\//.test(specifier) ? filePath(new URL(specifier, context.parentURL).href) : null;
        if (isOwn(missing, parent)) for (const file of possibleFiles(missing)) files.add(file); // module-reload.3
        throw error;
      }
    },
  });
  return {
    files: () => [...files],
    renew() {
      generation += 1;
      renewSources();
      for (const path of files) delete cache[path]; // CommonJS is kept by its path
    },
  };
}

/** module-reload.2. Nothing for the first: what is loaded once has the address that it has everywhere. */
function inGeneration(url: string, generation: number): string {
  if (generation === 0) return url;
  const address = new URL(url);
  address.searchParams.set(QUERY, String(generation));
  return address.href;
}

function ownGeneration(url: string | undefined): number {
  return url === undefined ? 0 : Number(new URL(url).searchParams.get(QUERY) ?? 0);
}
