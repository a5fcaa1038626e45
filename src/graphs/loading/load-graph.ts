// Load graph: user modules → compiled graphs.
// Rules:
//   load-graph.1. A loading error names the file, the export and the cause.
//   load-graph.2. The export may be a compiled graph, a graph to compile, a wrapper around one, or a graph factory.
//   load-graph.3. Each use calls a factory with its config (graph-factory.ts). The call at load, with an empty config,
//        creates the graph for descriptions and schemas.
import { describeError } from "../../base/api-error.ts";
import type { GraphSource } from "../config/langgraph-json.ts";
import { isCompiledGraph, type CompiledGraph } from "../langgraph/compiled-graph.ts";
import type { GraphFactory } from "./graph-factory.ts";
import { causeOf, importExport } from "./import-user-module.ts";

export class GraphLoadError extends Error {
  constructor(source: GraphSource, cause: string) {
    const place = "given" in source ? "given as a value" : `${source.file}, export ${source.exportName}`;
    super(`graph "${source.graphId}" (${place}) does not load: ${cause}`);
    this.name = "GraphLoadError";
  }
}

export interface LoadedGraph {
  readonly graphId: string;
  readonly description: string | null;
  /** Of a factory: its graph for an empty config. */
  readonly graph: CompiledGraph;
  /** Null if the export is not a function. */
  readonly factory: GraphFactory | null;
}

/** @throws {GraphLoadError} load-graph.1. */
export async function loadGraph(source: GraphSource, folder: string): Promise<LoadedGraph> {
  let exported: unknown;
  try {
    exported = "given" in source ? source.given : await importExport(source, folder);
  } catch (error) {
    throw new GraphLoadError(source, describeError(error).message);
  }
  const { graphId, description } = source;
  if (typeof exported !== "function") {
    return { graphId, description, graph: await toGraph(source, exported), factory: null };
  }
  const make = exported as (...given: readonly unknown[]) => unknown;
  const factory: GraphFactory = async (config, runtime) => toGraph(source, await make(config, runtime));
  let made: unknown;
  try {
    // load-graph.3
    made = await make({ configurable: {} }, { accessContext: "assistants.read", executionRuntime: null });
  } catch (error) {
    throw new GraphLoadError(source, `the function threw ${causeOf(error)}`);
  }
  return { graphId, description, graph: await toGraph(source, made), factory };
}

/** @throws {GraphLoadError} */
async function toGraph(source: GraphSource, exported: unknown): Promise<CompiledGraph> {
  const value = await exported;
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
  throw new GraphLoadError(source, "the export is neither a graph nor a function that returns one"); // load-graph.2
}
