// Module: a file of the user → what it exports. Node loads it; where it needs more than type stripping, the user's tsx.
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describeError } from "../base/errors.ts";
import type { ExportPath } from "./export-path.ts";

/** @throws {Error} with the cause in words, without the file's name. */
export async function importExport({ file, exportName }: ExportPath, folder: string): Promise<unknown> {
  const module = exportsOf(await importModule(file, folder));
  if (exportName in module) return module[exportName];
  throw new Error(`the file has no such export (it has ${Object.keys(module).join(", ") || "nothing"})`);
}

async function importModule(file: string, folder: string): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(file).href;
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (error) {
    if (!needsTransformer(error)) throw new Error(`${causeOf(error)}${placeOf(error, folder)}`, { cause: error });
    const tsx = await loadTsx(folder);
    if (tsx === null) {
      throw new Error(
        `${describeError(error).message}. The file uses TypeScript that is more than types (an enum, a namespace, JSX or path aliases): install tsx in the project (npm install --save-dev tsx), and it is used`,
        { cause: error },
      );
    }
    try {
      return (await tsx(url, import.meta.url)) as Record<string, unknown>;
    } catch (second) {
      throw new Error(causeOf(second), { cause: second });
    }
  }
}

/**
 * The exports that the file itself has. Without `"type": "module"` in package.json, Node reads a file that has neither import
 * nor export as CommonJS and adds `module.exports` and `default`, even where the file exports nothing.
 */
function exportsOf(module: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!("module.exports" in module)) return module;
  const { "module.exports": all, default: _same, ...named } = module;
  const isEmpty = typeof all === "object" && all !== null && Object.keys(all).length === 0;
  return isEmpty ? named : { ...named, default: all };
}

export function causeOf(error: unknown): string {
  const { name, message } = describeError(error);
  return `${name}: ${message}`;
}

/** Modules have their address in a stack, CommonJS and TypeScript without `"type": "module"` their path. */
const PLACE = /(file:\/\/\/[^\s:()?]+|(?<=^|\()(?:[A-Za-z]:)?[\\/][^:()?\n]+)(?:\?[^\s:()]*)?:(\d+)/m;

/** ` (parts/word.ts:3)`: an error of syntax does not name its place itself. Empty when it is not in the folder. */
function placeOf(error: unknown, folder: string): string {
  const stack = error instanceof Error ? error.stack : undefined;
  const [, place, line] = PLACE.exec(stack ?? "") ?? [];
  if (place === undefined) return "";
  const path = relative(folder, place.startsWith("file:") ? fileURLToPath(place) : place);
  return path.startsWith("..") ? "" : ` (${path}:${line})`;
}

/** Not ERR_INVALID_TYPESCRIPT_SYNTAX: that is a mistake in the file, and stays one. */
const TRANSFORM_CODES = new Set(["ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", "ERR_UNKNOWN_FILE_EXTENSION"]);

function needsTransformer(error: unknown): boolean {
  return error instanceof Error && "code" in error && TRANSFORM_CODES.has(String(error.code));
}

async function loadTsx(folder: string): Promise<((url: string, parent: string) => Promise<unknown>) | null> {
  try {
    const path = createRequire(join(folder, "noop.js")).resolve("tsx/esm/api");
    const api = (await import(pathToFileURL(path).href)) as { tsImport(url: string, parent: string): Promise<unknown> };
    return (url, parent) => api.tsImport(url, parent);
  } catch {
    return null;
  }
}
