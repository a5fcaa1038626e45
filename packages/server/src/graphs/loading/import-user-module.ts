// Import of a user module: a file of the user → its exports.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { ExportPath } from "../config/export-path.ts";
import { failedExport } from "./failed-export.ts";
import { importFailure } from "./import-failure.ts";
import { installSourceHooks } from "./source-hooks.ts";

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
