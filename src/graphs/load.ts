// Load: modules of users → compiled graphs.
// Invariants:
//   LD1. A graph that does not load is told by file, export and cause.
//   LD2. What was exported is used as it is: a compiled graph, a graph to compile, a wrapper around one, or a function that makes one.
import { describeError } from "../base/errors.ts";
import type { GraphSource } from "./config-file.ts";
import { isCompiledGraph, type CompiledGraph, type DeployedGraph } from "./graph.ts";
import { causeOf, importExport } from "./module.ts";

export class GraphLoadError extends Error {
  constructor(source: GraphSource, cause: string) {
    super(`graph "${source.graphId}" (${source.file}, export ${source.exportName}) does not load: ${cause}`);
    this.name = "GraphLoadError";
  }
}

/** @throws {GraphLoadError} LD1. */
export async function loadGraph(source: GraphSource, folder: string): Promise<DeployedGraph> {
  let exported: unknown;
  try {
    exported = await importExport(source, folder);
  } catch (error) {
    throw new GraphLoadError(source, describeError(error).message);
  }
  const graph = await toGraph(source, exported);
  return { graphId: source.graphId, description: source.description, graph };
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
