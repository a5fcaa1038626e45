// Module reload: loads user files again in the same process, and knows their paths. For `dev` only.
// Node keeps a module for ever under its URL; another query makes another URL, and so another module.
// Invariants:
//   - Only files of the project get a new URL: those in its folder, and their imports outside of node_modules, such as
//     a linked workspace package. Packages, and files of this server, stay one copy.
//   - A module always imports from its own generation: old and new code do not mix.
//   - The project's imports are known, also missing ones: a missing file may appear later.
import { createRequire, registerHooks } from "node:module";
import { extname, join, sep } from "node:path";
import { filePath, renewSources } from "./source-hooks.ts";
import { possibleFiles } from "./source-resolve.ts";

export interface FreshModules {
  /** Paths of loaded or requested files. */
  readonly files: () => readonly string[];
  /** From now on the server loads modules again, with all their imports in the project. */
  readonly renew: () => void;
}

const QUERY = "holdpoint";
/** A project may contain this server. */
const SERVER = join(import.meta.dirname, "../../../..") + sep; // all packages
/** It imports the files in langgraph.json. */
const LOADER = join(import.meta.dirname, `import-user-module${extname(import.meta.filename)}`);

/** @param folder the project: everything in it, outside of node_modules, is user code */
export function createFreshModules(folder: string): FreshModules {
  const files = new Set<string>();
  const outside = new Set<string>();
  const cache = createRequire(join(folder, "noop.js")).cache;
  let generation = 0;
  const isOwn = (path: string | null, parent: string | null = null): path is string =>
    path !== null &&
    !path.includes(`${sep}node_modules${sep}`) &&
    !path.startsWith(SERVER) &&
    (path.startsWith(folder + sep) || outside.has(path) || parent === LOADER || isOwn(parent));
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
        if (isOwn(missing, parent)) for (const file of possibleFiles(missing)) files.add(file);
        throw error;
      }
    },
  });
  return {
    files: () => [...files],
    renew() {
      generation += 1;
      renewSources();
      for (const path of files) delete cache[path]; // Node caches CommonJS by path
    },
  };
}

/** Nothing for the first: a first load uses the plain URL. */
function inGeneration(url: string, generation: number): string {
  if (generation === 0) return url;
  const address = new URL(url);
  address.searchParams.set(QUERY, String(generation));
  return address.href;
}

function ownGeneration(url: string | undefined): number {
  return url === undefined ? 0 : Number(new URL(url).searchParams.get(QUERY) ?? 0);
}
