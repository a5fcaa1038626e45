// Import of a user module: a file of the user → its exports.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { ExportPath } from "../config/export-path.ts";
import { importFailure } from "./import-failure.ts";
import { installSourceHooks } from "./source-hooks.ts";
import { SourceError } from "./source-transform.ts";

/** The file fails before it has exports. */
export class FileLoadError extends Error {
  /** The export in whose statement it fails; null if it is in none. */
  readonly exportName: string | null;

  constructor(message: string, exportName: string | null, cause: unknown) {
    super(message, { cause });
    this.exportName = exportName;
  }
}

/** @throws {Error} with the cause, without the file's name */
export async function importExport({ file, exportName }: ExportPath, folder: string): Promise<unknown> {
  const module = unwrapExports(await importModule(file, folder));
  if (exportName in module) return module[exportName];
  throw new Error(`the file has no such export (it has ${Object.keys(module).join(", ") || "nothing"})`);
}

async function importModule(file: string, folder: string): Promise<Readonly<Record<string, unknown>>> {
  installSourceHooks();
  try {
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    // A graph that is a promise fails where it is used. Until then its rejection must not end the process.
    for (const value of Object.values(module)) if (value instanceof Promise) value.catch(() => undefined);
    return module;
  } catch (error) {
    if (!existsSync(file)) throw new Error("the file does not exist: correct its path", { cause: error });
    throw new FileLoadError(importFailure(error, folder), failedExport(error, file), error);
  }
}

/**
 * The file's own exports. For CommonJS, Node adds `module.exports` and `default`, even if the file exports nothing.
 * Code compiled from `export` carries the mark `__esModule`.
 */
function unwrapExports(module: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!("module.exports" in module)) return module;
  const { "module.exports": all, default: _same, __esModule: _mark, ...named } = module;
  if (typeof all !== "object" || all === null) return { ...named, default: all };
  if ("__esModule" in all) return "default" in all ? { ...named, default: all.default } : named;
  return Object.keys(all).length === 0 ? named : { ...named, default: all };
}

export function formatCause(error: unknown): string {
  const { name, message } = describeError(error);
  return `${name}: ${message}`;
}

// The export in whose statement a file failed to load. All exports of the file are missing then, and langgraph.json may
// name another one first.

/** A frame of a stack: modules have a URL in it, CommonJS a path. */
const FRAME = /(file:\/\/\/[^\s:()?]+|(?<=^|\()(?:[A-Za-z]:)?[\\/][^:()?\n]+)(?:\?[^\s:()]*)?:(\d+)/gm;
/** The first line of a top-level statement. */
const STATEMENT = /^[\w$@"'`([]/;
const EXPORT = /^export\s+(?:(default)\b|(?:async\s+)?(?:const|let|var|class|function\s*\*?)\s*([\w$]+))/;

/** Null if the failing statement exports nothing, or is in another file. */
function failedExport(error: unknown, file: string): string | null {
  const line = failedLine(error, file);
  if (line === null) return null;
  const statement = readLines(file)
    .slice(0, line)
    .findLast((text) => STATEMENT.test(text));
  const [, byDefault, name] = EXPORT.exec(statement ?? "") ?? [];
  return byDefault ?? name ?? null;
}

/** The outermost frame of the file is its top-level code. */
function failedLine(error: unknown, file: string): number | null {
  if (error instanceof SourceError) return error.file === file ? error.line : null;
  if (!(error instanceof Error)) return null;
  const own = [...(error.stack ?? "").matchAll(FRAME)].filter(([, place = ""]) => readPath(place) === file);
  const [, , line] = own.at(-1) ?? [];
  return line === undefined ? null : Number(line);
}

const readPath = (place: string): string => (place.startsWith("file:") ? fileURLToPath(place) : place);

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}
