// Compiled graph: the part of a compiled LangGraph graph that this server uses. It never changes the shared object.
import type { Json } from "@holdpoint/base/json/json.ts";

export interface StreamConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

export interface Channel {
  readonly lc_graph_name?: string;
  /** The write rule of a channel; its kinds have one name or the other, or none. */
  readonly operator?: unknown;
  readonly reducer?: unknown;
  /** The value before the first write. */
  readonly value?: unknown;
}

/** Structural, so that graphs of any copy and version of LangGraph fit. */
export interface CompiledGraph {
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly streamChannelsAsIs: string | readonly string[];
  readonly checkpointer?: unknown;
  /** The builder of the graph; the functional API has none. */
  readonly builder?: GraphBuilder;
  /** Factories of the transformers of its streams; from LangGraph 1.3 on. */
  readonly streamTransformers?: unknown;
  /** Breakpoints of the compiled graph. */
  readonly interruptAfter?: "*" | readonly string[];
  readonly interruptBefore?: "*" | readonly string[];
  stream(input: unknown, config: StreamConfig): Promise<AsyncIterable<unknown>>;
  streamEvents(input: unknown, config: StreamConfig): AsyncIterable<RawEvent>;
  getState(config: StreamConfig, options?: { readonly subgraphs?: boolean }): Promise<LibraryState>;
  getStateHistory(config: StreamConfig, options?: object): AsyncIterable<LibraryState>;
  /** @param supersteps one, with updates to apply together */
  bulkUpdateState(
    config: StreamConfig,
    supersteps: readonly {
      readonly updates: readonly { readonly values: unknown; readonly asNode: string | undefined }[];
    }[],
  ): Promise<StreamConfig>;
  getGraphAsync(config: { readonly xray: boolean | number }): Promise<{ toJSON(): unknown }>;
  getSubgraphsAsync(namespace?: string, recurse?: boolean): AsyncIterable<[string, CompiledGraph]>;
}

/** The declared state: a schema if there is one, and always the channels by name. */
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

/**
 * The same graph with another checkpointer, as a separate object: state calls read `this.checkpointer`. They also walk
 * `this.getSubgraphsAsync`, and would ask another server about a graph that runs there.
 */
export function withCheckpointer(graph: CompiledGraph, checkpointer: unknown): CompiledGraph {
  return Object.create(graph, {
    checkpointer: { value: checkpointer },
    ...localView(graph),
  }) as CompiledGraph;
}

/** Properties of a view of the graph in which its subgraphs, at every depth, are those of this process. */
export function localView(graph: CompiledGraph): PropertyDescriptorMap {
  return {
    getSubgraphsAsync: {
      async *value(namespace?: string, recurse = false): AsyncGenerator<[string, CompiledGraph]> {
        for await (const [path, subgraph] of localSubgraphs(graph)) {
          const fits = namespace === undefined ? recurse || !path.includes("|") : path === namespace;
          if (fits) yield [path, Object.create(subgraph, localView(subgraph)) as CompiledGraph];
        }
      },
    },
  };
}

/**
 * Subgraphs by path, `child|grandchild`, at every depth. LangGraph's own walk enters a RemoteGraph, which has neither
 * nodes nor channels here.
 */
export async function* localSubgraphs(graph: CompiledGraph, above = ""): AsyncGenerator<[string, CompiledGraph]> {
  for await (const [name, subgraph] of graph.getSubgraphsAsync()) {
    if (!isCompiledGraph(subgraph)) continue;
    const path = `${above}${name}`;
    yield [path, subgraph];
    yield* localSubgraphs(subgraph, `${path}|`);
  }
}

/** One event of LangGraph's `streamEvents`. */
export interface RawEvent {
  readonly event: string;
  readonly run_id: string;
  readonly tags?: readonly string[];
  readonly data: { readonly chunk?: unknown; readonly input?: unknown };
}
