// Load graph: user modules → compiled graphs.
// Rules:
//   load-graph.1. A loading error names the graph, the file, the export that failed and the cause.
//   load-graph.2. The export may be a compiled graph, a graph to compile, a wrapper around one, or a graph factory.
//   - Each use calls a factory with its config (graph-factory.ts). The call at load, with an empty config, creates the
//     graph for descriptions and schemas.
import type { Fingerprint } from "../../model/model.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { computeFingerprint } from "../checkpoints/graph-fingerprint.ts";
import type { GraphSource } from "../config/langgraph-json.ts";
import { isCompiledGraph, type CompiledGraph } from "../langgraph/compiled-graph.ts";
import type { GraphFactory } from "./graph-factory.ts";
import { formatCause, FileLoadError, importExport } from "./import-user-module.ts";

export class GraphLoadError extends Error {
  /** @param exportName null if the file fails outside of an export */
  constructor(source: GraphSource, cause: string, exportName: string | null = source.exportName) {
    const place = "given" in source ? "given as a value" : [source.file, ...namesExport(exportName)].join(", ");
    super(`graph "${source.graphId}" (${place}) does not load: ${cause}`);
    this.name = "GraphLoadError";
  }
}

const namesExport = (name: string | null): readonly string[] => (name === null ? [] : [`export ${name}`]);

export interface LoadedGraph {
  readonly graphId: string;
  readonly description: string | null;
  /** The graph; for a factory, its graph for an empty config. */
  readonly graph: CompiledGraph;
  /** Null if the export is not a function. */
  readonly factory: GraphFactory | null;
  readonly fingerprint: Fingerprint;
}

/** @throws {GraphLoadError} load-graph.1. */
export async function loadGraph(source: GraphSource, folder: string): Promise<LoadedGraph> {
  const { graphId, description } = source;
  try {
    const made = await makeGraph(source, folder);
    return { graphId, description, ...made, fingerprint: await computeFingerprint(graphId, made.graph) };
  } catch (error) {
    if (error instanceof GraphLoadError) throw error;
    throw new GraphLoadError(source, `reading it threw ${formatCause(error)}`);
  }
}

/** @throws {GraphLoadError} */
async function makeGraph(source: GraphSource, folder: string): Promise<Pick<LoadedGraph, "graph" | "factory">> {
  let exported: unknown;
  try {
    exported = await ("given" in source ? source.given : importExport(source, folder));
  } catch (error) {
    const { message } = describeError(error);
    throw error instanceof FileLoadError
      ? new GraphLoadError(source, message, error.exportName)
      : new GraphLoadError(source, message);
  }
  if (typeof exported !== "function") return { graph: await toGraph(source, exported), factory: null };
  const make = exported as (...given: readonly unknown[]) => unknown;
  const factory: GraphFactory = async (config, runtime) => toGraph(source, await make(config, runtime), RETURNED);
  let made: unknown;
  try {
    made = await make({ configurable: {} }, { accessContext: "assistants.read", executionRuntime: null });
  } catch (error) {
    throw new GraphLoadError(source, `the function threw ${formatCause(error)}`);
  }
  return { graph: await toGraph(source, made, RETURNED), factory };
}

const RETURNED = "the function returned";

/** @param given how the value came, before its kind @throws {GraphLoadError} */
async function toGraph(source: GraphSource, made: unknown, given = "the export is"): Promise<CompiledGraph> {
  const value = await made;
  if (isCompiledGraph(value)) return value;
  if (typeof value === "object" && value !== null) {
    if ("graph" in value && isCompiledGraph(value.graph)) return value.graph; // agents keep their graph inside
    if ("compile" in value && typeof value.compile === "function") {
      try {
        const compiled: unknown = (value as { compile(): unknown }).compile();
        if (isCompiledGraph(compiled)) return compiled;
      } catch (error) {
        throw new GraphLoadError(source, `compiling it threw ${formatCause(error)}`);
      }
    }
  }
  throw new GraphLoadError(source, `${given} ${nameKind(value)}`); // load-graph.2
}

function nameKind(value: unknown): string {
  if (typeof value === "object" && value !== null && "lg_is_pregel" in value)
    return "a graph of another server: make it a node of a graph here, which keeps the pauses";
  const kind = value === undefined || value === null ? String(value) : `a value of type ${typeof value}`;
  return `${kind}, neither a graph nor a function that returns one`;
}
