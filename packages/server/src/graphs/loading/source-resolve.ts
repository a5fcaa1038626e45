// Source resolve: the specifier of an import → the file that TypeScript and bundlers resolve it to.
// Rules:
//   - In a TypeScript file `./state.js` means `./state.ts` if that exists. In a JavaScript file the written path comes
//     first.
//   - A path alias without a matching file has no effect: the specifier resolves as a package.
//   - All other specifiers resolve as in plain Node.
import { readFileSync, statSync } from "node:fs";
import { findPackageJSON, type ResolveFnOutput, type ResolveHookContext } from "node:module";
import { dirname, extname, isAbsolute, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sourceConfig } from "./source-config.ts";
import { isTypeScript } from "./source-transform.ts";

export type NextResolve = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;
export type SourceResolver = (
  specifier: string,
  parent: string,
  context: ResolveHookContext,
  next: NextResolve,
) => ResolveFnOutput;

const TYPED: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx", ".jsx"],
  ".jsx": [".tsx", ".ts"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};
const ENDINGS = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];
const CONDITIONS = ["node", "import", "module-sync", "node-addons"];
/** A list, as Node documents it; older versions (such as 24.0) may expect a set. */
const IMPORT_CONDITIONS = Object.assign([...CONDITIONS], { has: (name: string) => CONDITIONS.includes(name) });

/** @param isProjectFile outside of node_modules */
export function createSourceResolver(isProjectFile: (path: string) => boolean): SourceResolver {
  return (specifier, parent, context, next) => {
    const typed = isTypeScript(parent);
    if (!typed && !isProjectFile(parent)) return next(specifier, context);
    const place = resolvePlace(specifier, parent);
    const file = place !== null || isProjectFile(parent) ? findImported(specifier, parent) : null;
    if (file !== null) return next(buildModuleUrl(file, place?.query ?? "", context), context);
    return place === null ? resolvePackage(specifier, parent, context, next) : next(specifier, context);
  };
}

/** The file behind a path or an alias; null for packages, and for files that do not exist. */
export function findImported(specifier: string, parent: string): string | null {
  const place = resolvePlace(specifier, parent);
  const paths = place === null ? sourceConfig(parent).aliases(specifier) : [place.path];
  for (const path of paths) {
    const file = findFile(path, isTypeScript(parent));
    if (file !== null) return file;
  }
  return null;
}

/** The path of a relative, absolute or `file:` specifier. */
function resolvePlace(specifier: string, parent: string): { readonly path: string; readonly query: string } | null {
  const [text = "", query = ""] = /^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(specifier) ? specifier.split(/(?=\?)/, 2) : [];
  if (text === "") return isAbsolute(specifier) ? { path: specifier, query: "" } : null;
  if (text.startsWith("file:")) return { path: fileURLToPath(text), query };
  return { path: isAbsolute(text) ? text : join(dirname(parent), decoded(text), trailing(text)), query };
}

const trailing = (text: string): string => (/(?:^|\/)\.{0,2}$/.test(text) ? "/" : "");

function decoded(text: string): string {
  try {
    return text.includes("%") ? decodeURIComponent(text) : text;
  } catch {
    return text;
  }
}

/** The candidate files for a path. */
export function possibleFiles(path: string): readonly string[] {
  return [...withEndings(path, true), ...ENDINGS.map((ending) => join(path, `index${ending}`))];
}

/** @param typedFirst */
function findFile(path: string, typedFirst: boolean): string | null {
  const isFolder = path.endsWith("/");
  const candidates = isFolder ? [] : [...withEndings(path, typedFirst)];
  const file = candidates.find(isFile);
  return file ?? findInFolder(path, typedFirst);
}

function* withEndings(path: string, typedFirst: boolean): Iterable<string> {
  const ending = extname(path);
  const typed = (TYPED[ending] ?? []).map((other) => path.slice(0, -ending.length) + other);
  if (typedFirst) yield* typed;
  yield path;
  if (!typedFirst) yield* typed;
  for (const other of ENDINGS) yield path + other;
}

function findInFolder(path: string, typedFirst: boolean): string | null {
  const main = readMain(path);
  if (main !== null) {
    const file = [...withEndings(join(path, main), typedFirst)].find(isFile);
    if (file !== undefined) return file;
  }
  return ENDINGS.map((ending) => join(path, `index${ending}`)).find(isFile) ?? null;
}

function readMain(folder: string): string | null {
  try {
    const { main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly main?: unknown };
    return typeof main === "string" ? main : null;
  } catch {
    return null;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Node 22.15 has a set instead of the list. */
export function isRequire({ conditions }: { readonly conditions: Iterable<string> }): boolean {
  return new Set(conditions).has("require");
}

/** `require` takes paths, `import` takes addresses. */
function buildModuleUrl(file: string, query: string, context: ResolveHookContext): string {
  return isRequire(context) ? file : pathToFileURL(file).href + query;
}

function resolvePackage(
  specifier: string,
  parent: string,
  context: ResolveHookContext,
  next: NextResolve,
): ResolveFnOutput {
  try {
    if (!isRequire(context) || !isPackage(specifier)) return next(specifier, context);
    try {
      return next(specifier, { ...context, conditions: IMPORT_CONDITIONS });
    } catch {
      return next(specifier, context);
    }
  } catch (error) {
    const file = missingPackageFile(specifier, parent, error);
    if (file === null) throw error;
    return next(buildModuleUrl(file, "", context), context);
  }
}

function isPackage(specifier: string): boolean {
  return !specifier.includes(":") && !specifier.startsWith("#");
}

/** A linked package may name `dist/index.js` or `./src/index.js` with only the TypeScript source present. */
function missingPackageFile(specifier: string, parent: string, error: unknown): string | null {
  const url = error instanceof Error && "url" in error ? error.url : null;
  if (typeof url === "string" && url.startsWith("file:")) {
    const file = findFile(fileURLToPath(url), true);
    if (file !== null) return file;
  }
  if (!isPackage(specifier)) return null;
  try {
    const manifest = findPackageJSON(specifier, pathToFileURL(parent));
    if (manifest === undefined) return null;
    const { name, exports } = JSON.parse(readFileSync(manifest, "utf8")) as Readonly<Record<string, unknown>>;
    if (exports !== undefined || typeof name !== "string") return null;
    const rest = specifier.slice(name.length);
    return findFile(rest === "" ? dirname(manifest) : join(dirname(manifest), rest), true);
  } catch {
    return null;
  }
}
