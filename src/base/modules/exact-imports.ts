// Exact imports: resolves relative imports between files of the program and of packages, while the program starts. Node
// parses the package.json of a package again for each of its files, a fifth of the CPU time of a start.
// Invariants:
//   exact-imports.1. The result is Node's own. A file that is not exactly there, is a link, is in another package, or
//        may be CommonJS is left to Node.
//   exact-imports.2. It ends with the first import from other code: graphs, and what they load, are resolved by Node and
//        by the hooks that they register.
//   exact-imports.3. A process with hooks from its command line resolves by these alone.
import { lstatSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

export interface ExactImport {
  readonly url: string;
  readonly format: "module" | "module-typescript";
}

const PACKAGES = "/node_modules/";
const PLAIN = /^\.{1,2}\/[\w./-]+\.([jt]s)$/;
const HOOKS = /--(?:experimental-)?(?:import|loader|require)\b|(?:^|\s)-r\b/;

/** @param root URL of the program's folder, with a slash at its end */
export function createExactImports(root: string): (specifier: string, parentUrl: string) => ExactImport | null {
  const isModule = createScopes();
  return (specifier, parentUrl) => {
    const ending = PLAIN.exec(specifier)?.[1];
    if (ending === undefined) return null;
    const { href: url } = new URL(specifier, parentUrl);
    const at = parentUrl.lastIndexOf(PACKAGES);
    if (!parentUrl.startsWith(root) && (at < 0 || ending === "ts")) return null;
    if (url.lastIndexOf(PACKAGES) !== at || lstatSync(fileURLToPath(url), NO_THROW)?.isFile() !== true) return null;
    if (!isModule(url.slice(0, url.lastIndexOf("/") + 1))) return null;
    return { url, format: ending === "ts" ? "module-typescript" : "module" };
  };
}

const NO_THROW = { throwIfNoEntry: false } as const;

/** Whether a folder's nearest package.json has the type `module`. */
function createScopes(): (folder: string) => boolean {
  const known = new Map<string, boolean>();
  const isModule = (folder: string): boolean => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const path = fileURLToPath(`${folder}package.json`);
    const own = lstatSync(path, NO_THROW) === undefined ? null : readFileSync(path, "utf8");
    const parent = folder.replace(/[^/]+\/$/, "");
    const found = own === null ? parent !== folder && isModule(parent) : JSON.parse(own)["type"] === "module";
    known.set(folder, found);
    return found;
  };
  return isModule;
}

/** Call before the modules of a command are loaded. @param options of Node for this process: arguments, NODE_OPTIONS */
export function resolveExactImports(root: string, options: readonly string[]): void {
  if (HOOKS.test(options.join(" "))) return; // exact-imports.3
  const exactImport = createExactImports(root);
  let isOver = false;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const { conditions, parentURL = root } = context;
      if (!isOver && isOther(parentURL, root)) {
        isOver = true; // exact-imports.2
        setImmediate(() => hooks.deregister());
      }
      const isRequire = new Set(conditions).has("require");
      const exact = isOver || isRequire ? null : exactImport(specifier, parentURL);
      return exact === null ? next(specifier, context) : { ...exact, shortCircuit: true };
    },
  });
}

function isOther(url: string, root: string): boolean {
  return url.startsWith("file:") && !url.startsWith(root) && !url.includes(PACKAGES);
}
