// Load: modules of users → compiled graphs.
// Invariants:
//   LD1. A graph that does not load is told by file, export and cause.
//   LD2. What was exported is used as it is: a compiled graph, a graph to compile, a wrapper around one, or a function that makes one.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describeError } from "../base/errors.ts";
import type { GraphSource } from "./config-file.ts";
import { isCompiledGraph, type CompiledGraph, type DeployedGraph } from "./graph.ts";

export class GraphLoadError extends Error {
  constructor(source: GraphSource, cause: string) {
    super(`graph "${source.graphId}" (${source.file}, export ${source.exportName}) does not load: ${cause}`);
    this.name = "GraphLoadError";
  }
}

/** @throws {GraphLoadError} LD1. */
export async function loadGraph(source: GraphSource, folder: string): Promise<DeployedGraph> {
  const module = await importModule(source, folder);
  if (!(source.exportName in module)) {
    const names = Object.keys(module).join(", ") || "nothing";
    throw new GraphLoadError(source, `the file has no such export (it has ${names})`);
  }
  const graph = await toGraph(source, module[source.exportName]);
  return { graphId: source.graphId, description: source.description, graph };
}

async function importModule(source: GraphSource, folder: string): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(source.file).href;
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (error) {
    if (!needsTransformer(error)) throw new GraphLoadError(source, causeOf(error));
    const tsx = await loadTsx(folder);
    if (tsx === null) {
      throw new GraphLoadError(
        source,
        `${describeError(error).message}. The file uses TypeScript that is more than types (an enum, a namespace, JSX or path aliases): install tsx in the project (npm install --save-dev tsx), and it is used`,
      );
    }
    try {
      return (await tsx(url, import.meta.url)) as Record<string, unknown>;
    } catch (second) {
      throw new GraphLoadError(source, causeOf(second));
    }
  }
}

function causeOf(error: unknown): string {
  const { name, message } = describeError(error);
  return `${name}: ${message}`;
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

async function toGraph(source: GraphSource, exported: unknown): Promise<CompiledGraph> {
  let value: unknown = exported;
  if (typeof value === "function") {
    try {
      value = await (value as (config: object) => unknown)({ configurable: {} });
    } catch (error) {
      throw new GraphLoadError(source, `the function threw ${causeOf(error)}`);
    }
  }
  value = await value;
  if (isCompiledGraph(value)) return value;
  if (typeof value === "object" && value !== null) {
    if ("graph" in value && isCompiledGraph(value.graph)) return value.graph; // agents keep their graph inside
    if ("compile" in value && typeof value.compile === "function") {
      try {
        const compiled: unknown = (value as { compile(): unknown }).compile();
        if (isCompiledGraph(compiled)) return compiled;
      } catch (error) {
        throw new GraphLoadError(source, `compiling it threw ${causeOf(error)}`);
      }
    }
  }
  throw new GraphLoadError(source, "the export is neither a graph nor a function that returns one"); // LD2
}
