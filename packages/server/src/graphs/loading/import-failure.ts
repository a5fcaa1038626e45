// Import failure: the reason why a module of the project does not load → one sentence with the import, the importing
// file and the remedy.
import { findPackageJSON, isBuiltin } from "node:module";
import { readdirSync } from "node:fs";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describeError } from "@holdpoint/base/api-error.ts";
import { nearestName } from "../config/nearest-name.ts";
import { sourceConfig } from "./source-config.ts";
import { SourceError } from "./source-transform.ts";

export interface FailedImport {
  readonly specifier: string;
  /** Path of the importing file. */
  readonly parent: string;
}

const failed = new WeakMap<Error, FailedImport>();

/** The error keeps its class and code: a project may catch that of an optional package. */
export function noteFailedImport(error: unknown, found: FailedImport | undefined): void {
  if (error instanceof Error && found !== undefined && !failed.has(error)) failed.set(error, found);
}

/** Code of an error → the sentence after `g.ts imports "x", `. */
const REMEDIES: Readonly<Record<string, (found: FailedImport, folder: string) => string>> = {
  ERR_MODULE_NOT_FOUND: remedy,
  MODULE_NOT_FOUND: remedy,
  ERR_UNSUPPORTED_DIR_IMPORT: remedy,
  ERR_PACKAGE_PATH_NOT_EXPORTED: ({ specifier }) =>
    `which "exports" of package.json of ${namePackage(specifier)} does not have: correct the path, or install another version`,
  ERR_UNKNOWN_BUILTIN_MODULE: () => "which this version of Node does not have: correct the name",
  ERR_UNKNOWN_FILE_EXTENSION: () =>
    "a file of a kind that the server does not load: read it with node:fs, or import JavaScript, TypeScript or JSON",
  ERR_UNSUPPORTED_ESM_URL_SCHEME: () => "an address that Node does not load: install it as a package",
};

/** @param folder the project: paths are relative to it */
export function importFailure(error: unknown, folder: string): string {
  const { name, message } = describeError(error);
  if (!(error instanceof Error)) return `${name}: ${message}`;
  const missing = failed.get(error);
  const asked =
    missing === undefined ? "" : ` (import "${missing.specifier}" in ${relativePath(missing.parent, folder)})`;
  if (error instanceof SourceError)
    return `SyntaxError: ${message} (${placed(error.file, error.line, folder)})${asked}`;
  const knownRemedy = REMEDIES["code" in error ? String(error.code) : ""];
  if (missing !== undefined && knownRemedy !== undefined)
    return `${relativePath(missing.parent, folder)} imports "${missing.specifier}", ${knownRemedy(missing, folder)}`;
  const awaiting = requiredAwait(message, folder);
  if (awaiting !== null) return awaiting;
  return `${name}: ${firstLine(message)}${asked === "" ? findPlace(error, folder) : asked}${hint(name, message)}`;
}

function remedy({ specifier, parent }: FailedImport, folder: string): string {
  const { problem, compilerOptions, aliases } = sourceConfig(parent);
  const config = problem === null ? "" : ` (its tsconfig.json is not used: ${problem})`;
  if (/^(?:\.|\/|file:)/.test(specifier)) {
    const ending = extname(specifier) === "" ? " as a file or a folder with an index file" : "";
    const meant = specifier.startsWith(".") ? similarTo(specifier, join(dirname(parent), specifier)) : "";
    return `which does not exist${ending}: correct the path, or create the file${meant}${config}`;
  }
  const [scope = ""] = specifier.split("/", 1);
  if (specifier.startsWith("#"))
    return `which "imports" of its package.json does not lead to a file: correct the entry${config}`;
  const patterns = Object.keys(compilerOptions.paths ?? {});
  const [target] = aliases(specifier);
  if (target !== undefined && patterns.some((pattern) => fits(specifier, pattern)))
    return `which "paths" of tsconfig.json leads to ${relativePath(target, folder)}, where no file is: correct the path, or create the file${similarTo(specifier, target)}${config}`;
  const others = patterns.length === 0 ? "" : ` (it has ${patterns.slice(0, ALIASES_NAMED_MAX).join(", ")})`;
  if (/^[@~]$/.test(scope))
    return `which is no package: add it to "paths" of the tsconfig.json nearest to that file${others}${config}`;
  if (isBuiltin(specifier)) return "which this version of Node does not have";
  if (isInstalled(specifier, parent))
    return `a package without the file that its package.json names: build it, or install it again`;
  return `a package that is not installed: run npm install ${namePackage(specifier)} in ${folder}, or add it to "paths" of tsconfig.json if it is an alias${others}${config}`;
}

const ALIASES_NAMED_MAX = 5;

/** `@lib/*` fits `@lib/word`. */
function fits(specifier: string, pattern: string): boolean {
  const [before = "", after] = pattern.split("*", 2);
  return after === undefined ? specifier === pattern : specifier.startsWith(before) && specifier.endsWith(after);
}

/** A file or folder with a similar name beside the missing one, as the import would name it. */
function similarTo(specifier: string, path: string): string {
  const stem = (name: string): string => basename(name, extname(name));
  try {
    const meant = nearestName(stem(path), readdirSync(dirname(path)).map(stem));
    if (meant === null || meant === stem(path)) return "";
    const at = specifier.lastIndexOf("/") + 1;
    return `; did you mean "${specifier.slice(0, at)}${meant}${extname(specifier)}"?`;
  } catch {
    return ""; // the folder does not exist either
  }
}

/** `@scope/name/deep` → `@scope/name`. */
function namePackage(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** A workspace package that is not built yet. */
function isInstalled(specifier: string, parent: string): boolean {
  try {
    return findPackageJSON(specifier, pathToFileURL(parent)) !== undefined;
  } catch {
    return false;
  }
}

/** Node names both files of a `require` that meets `await`, in one of two forms. */
const AWAITED = /(?: {2}From (.+?) ?\n {2}Requiring (.+?) ?\n)|(?:Required module: (.+)\nRequire stack:\n- (.+))/;

function requiredAwait(message: string, folder: string): string | null {
  const [, from, required, requiredNow, fromNow] = AWAITED.exec(message) ?? [];
  const [parent, module] = [from ?? fromNow, required ?? requiredNow];
  if (parent === undefined || module === undefined) return null;
  const names = [parent, module].map((path) => relativePath(path, folder));
  return `${names[0]} requires ${names[1]}, which has a top-level await: make ${names[0]} an ES module (.mts, or "type": "module"), or move the await into a function`;
}

function hint(name: string, message: string): string {
  const [, missing] = /does not provide an export named '([^']+)'/.exec(message) ?? [];
  if (name !== "SyntaxError" || missing === undefined) return "";
  return `. If ${missing} is a type, re-export it with "export type"`;
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

/** Modules have a URL in a stack, CommonJS a path. */
const PLACE = /(file:\/\/\/[^\s:()?]+|(?<=^|\()(?:[A-Za-z]:)?[\\/][^:()?\n]+)(?:\?[^\s:()]*)?:(\d+)/m;

/** ` (parts/word.ts:3)`: a syntax error does not name its place itself. Empty for a file outside the folder. */
function findPlace(error: Error, folder: string): string {
  const [, found, line] = PLACE.exec(error.stack ?? "") ?? [];
  if (found === undefined) return "";
  const path = relative(folder, found.startsWith("file:") ? fileURLToPath(found) : found);
  return path.startsWith(`..${sep}`) ? "" : ` (${path}:${line})`;
}

function placed(path: string, line: number | null, folder: string): string {
  return `${relativePath(path, folder)}${line === null ? "" : `:${line}`}`;
}

/** A short path also for files beside the project. */
function relativePath(path: string, folder: string): string {
  const short = relative(folder, path);
  return short.startsWith(`..${sep}..${sep}..${sep}..${sep}`) || dirname(short) === short ? path : short;
}
