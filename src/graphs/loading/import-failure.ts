// Import failure: the reason why a module of the project does not load → one sentence with the import, the importing
// file and the remedy.
import { isBuiltin } from "node:module";
import { dirname, extname, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describeError } from "../../base/api-error.ts";
import { sourceConfig } from "./source-config.ts";
import { SourceError } from "./source-transform.ts";

interface FailedImport {
  readonly specifier: string;
  /** Path of the importing file. */
  readonly parent: string;
}

const failed = new WeakMap<Error, FailedImport>();

/** The error keeps its class and code: a project may catch that of an optional package. */
export function noteFailedImport(error: unknown, specifier: string, parent: string): void {
  if (error instanceof Error && !failed.has(error)) failed.set(error, { specifier, parent });
}

const NOT_FOUND = new Set(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"]);

/** @param folder the project: paths are relative to it */
export function importFailure(error: unknown, folder: string): string {
  const { name, message } = describeError(error);
  if (!(error instanceof Error)) return `${name}: ${message}`;
  if (error instanceof SourceError) return `SyntaxError: ${message} (${placed(error.file, error.line, folder)})`;
  const missing = failed.get(error);
  if (missing !== undefined && "code" in error && NOT_FOUND.has(String(error.code)))
    return `${relativePath(missing.parent, folder)} imports "${missing.specifier}", ${remedy(missing, folder)}`;
  const asked =
    missing === undefined ? "" : ` (import "${missing.specifier}" in ${relativePath(missing.parent, folder)})`;
  return `${name}: ${firstLine(message)}${asked === "" ? placeOf(error, folder) : asked}${hint(name, message)}`;
}

function remedy({ specifier, parent }: FailedImport, folder: string): string {
  const { problem } = sourceConfig(parent);
  const config = problem === null ? "" : ` (its tsconfig.json is not used: ${problem})`;
  if (/^(?:\.|\/|file:)/.test(specifier)) {
    const ending = extname(specifier) === "" ? " as a file or a folder with an index file" : "";
    return `which does not exist${ending}: correct the path, or create the file${config}`;
  }
  const [scope = "", name = ""] = specifier.split("/");
  const installed = specifier.startsWith("@") ? `${scope}/${name}` : scope;
  if (specifier.startsWith("#"))
    return `which "imports" of its package.json does not lead to a file: correct the entry${config}`;
  if (/^[@~]$/.test(scope))
    return `which is no package: add it to "paths" of the tsconfig.json nearest to that file${config}`;
  if (isBuiltin(specifier)) return "which this version of Node does not have";
  return `a package that is not installed: run npm install ${installed} in ${folder}, or add it to "paths" of tsconfig.json if it is an alias${config}`;
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
function placeOf(error: Error, folder: string): string {
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
