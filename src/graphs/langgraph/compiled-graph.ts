// Graph: the part of a compiled LangGraph graph that this server touches. Nothing here is changed on the shared object.
import type { Json } from "../../base/json/json.ts";

export interface StreamConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

export interface Channel {
  readonly lc_graph_name?: string;
  /** How a value is written to it; its kinds have one name or the other, or none. */
  readonly operator?: unknown;
  readonly reducer?: unknown;
  /** What it holds before the first write. */
  readonly value?: unknown;
}

/** Structural, so that graphs of any copy and version of the library fit. */
export interface CompiledGraph {
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly streamChannelsAsIs: string | readonly string[];
  readonly checkpointer?: unknown;
  /** What it was compiled from; the functional API has none. */
  readonly builder?: GraphBuilder;
  /** Breakpoints that the graph was compiled with. */
  readonly interruptAfter?: "*" | readonly string[];
  readonly interruptBefore?: "*" | readonly string[];
  stream(input: unknown, config: StreamConfig): Promise<AsyncIterable<unknown>>;
  streamEvents(input: unknown, config: StreamConfig): AsyncIterable<RawEvent>;
  getState(config: StreamConfig, options?: { readonly subgraphs?: boolean }): Promise<LibraryState>;
  getStateHistory(config: StreamConfig, options?: object): AsyncIterable<LibraryState>;
  /** @param supersteps one, of updates that are applied together. */
  bulkUpdateState(
    config: StreamConfig,
    supersteps: readonly {
      readonly updates: readonly { readonly values: unknown; readonly asNode: string | undefined }[];
    }[],
  ): Promise<StreamConfig>;
  getGraphAsync(config: { readonly xray: boolean | number }): Promise<{ toJSON(): unknown }>;
  getSubgraphsAsync(namespace?: string, recurse?: boolean): AsyncIterable<[string, CompiledGraph]>;
}

/** The state as it was declared: a schema where there is one, and the channels by name always. */
export interface GraphBuilder {
  readonly _schemaRuntimeDefinition?: unknown;
  readonly _schemaDefinition?: Readonly<Record<string, unknown>>;
  readonly _inputRuntimeDefinition?: unknown;
  readonly _inputDefinition?: Readonly<Record<string, unknown>>;
  readonly _outputRuntimeDefinition?: unknown;
  readonly _outputDefinition?: Readonly<Record<string, unknown>>;
  readonly _configRuntimeSchema?: unknown;
}

export interface LibraryState {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly tasks: readonly LibraryTask[];
  readonly metadata?: unknown;
  readonly config: LibraryConfig;
  readonly createdAt?: string;
  readonly parentConfig?: LibraryConfig;
}

export interface LibraryConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
}

export interface LibraryTask {
  readonly id: string;
  readonly name: string;
  readonly path?: Json;
  readonly error?: unknown;
  readonly interrupts: readonly { readonly id?: string; readonly value?: unknown }[];
  readonly state?: LibraryState | LibraryConfig;
  readonly result?: unknown;
}

export function isCompiledGraph(value: unknown): value is CompiledGraph {
  return (
    typeof value === "object" &&
    value !== null &&
    "stream" in value &&
    typeof value.stream === "function" &&
    "getState" in value &&
    "channels" in value &&
    "nodes" in value
  );
}

/** The same graph with another checkpointer, as an object of its own: state calls look at `this.checkpointer`. */
export function withCheckpointer(graph: CompiledGraph, checkpointer: unknown): CompiledGraph {
  return Object.create(graph, { checkpointer: { value: checkpointer } }) as CompiledGraph;
}

/** One event of the library's `streamEvents`. */
export interface RawEvent {
  readonly event: string;
  readonly run_id: string;
  readonly tags?: readonly string[];
  readonly data: { readonly chunk?: unknown };
}
