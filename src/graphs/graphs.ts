// Graphs: the graph port of the agent room, over the deployed graphs.
// The pieces:
//   hot-reload.ts  replaces graphs when a file of the project changes, in `dev`
//   validate.ts    loads everything a langgraph.json names, for `holdpoint validate`
//   state/         reads and edits of a thread's state
//   run/           one attempt of a run: input, config, stream, interrupts, outcome
//   extensions/    other code of the deployment: auth handlers, custom app, embedder, store, UI
//   tracing/       LangChain's callbacks to the steps of a run's trace
//   checkpoints/   LangGraph's checkpointer over the storage port, the value codec, fingerprints
//   schemas/       the schemas and drawings of graphs
//   loading/       user modules, their sources and path aliases
//   langgraph/     the parts of LangGraph in use, its ids and its control values
//   config/        langgraph.json, section by section
//   graphs.ts      the port itself
import type { Fingerprint } from "../agent/model/model.ts";
import type {
  GraphSchemas,
  Graphs,
  StateAddress,
  Storage,
  Store,
  StoredCheckpoint,
  Tracing,
} from "../agent/ports/ports.ts";
import type { Clock } from "../base/clock.ts";
import { isLong } from "../base/stringify-slowly.ts";
import { createCodec } from "./checkpoints/codec/value-codec.ts";
import { completeSchemas } from "./schemas/merge-schemas.ts";
import type { GraphSource, GraphsConfig } from "./config/langgraph-json.ts";
import { refuseControlValues, refuseControlValuesSlowly } from "./langgraph/control-values.ts";
import { withDeadlines } from "./config/deadlines-section.ts";
import { deltaValues } from "./checkpoints/delta-history.ts";
import { drawGraph } from "./schemas/graph-drawing.ts";
import { fingerprintOf, missingParts } from "./checkpoints/graph-fingerprint.ts";
import {
  type Deployed,
  type FactoryRuntime,
  type MadeGraph,
  graphOfRun,
  graphOfThread,
  graphToRead,
  withOwnBreakpoints,
  withoutGraph,
} from "./loading/graph-factory.ts";
import { createInterruptIds } from "./langgraph/interrupt-ids.ts";
import type { Library } from "./langgraph/library.ts";
import { loadGraph } from "./loading/load-graph.ts";
import { servedSchemas } from "./schemas/message-definitions.ts";
import { runGraph } from "./run/run-graph.ts";
import type { RunContext } from "./run/run-context.ts";
import { schemasOf } from "./schemas/runtime-schemas.ts";
import { buildState, readHistory, readState, updateState } from "./state/thread-state.ts";
import { createGraphStore } from "./extensions/langgraph-store.ts";
import { tracedRun } from "./tracing/traced-run.ts";
import type { TypeReader } from "./schemas/type-reader.ts";

export interface DeployedGraphs extends Graphs {
  /** Loads a graph and replaces the one with its id. @throws {GraphLoadError} and the old one stays */
  deploy(source: GraphSource): Promise<void>;
}

export interface GraphsPorts {
  readonly library: Library;
  readonly storage: Storage;
  readonly store: Store;
  readonly types: TypeReader;
  readonly tracing: Tracing | null;
  readonly clock: Clock;
}

/** @throws {GraphLoadError} if a graph fails to load */
export async function createGraphs(config: GraphsConfig, ports: GraphsPorts): Promise<DeployedGraphs> {
  const { library, storage, store, types, tracing, clock } = ports;
  const codec = createCodec(library);
  const context: RunContext = {
    library,
    codec,
    ids: await createInterruptIds(library),
    read: (query) => storage.transaction(query),
    folder: config.folder,
    store: createGraphStore(library, store),
    watched: new WeakSet(),
  };
  const deployed = new Map<string, Deployed>();
  const deploy = async (source: GraphSource): Promise<void> => {
    const loaded = await loadGraph(source, config.folder);
    const { graphId, graph, factory } = loaded;
    const nodeNames = factory === null ? Object.keys(graph.nodes).filter((name) => name !== "__start__") : null;
    const breakpoints = { before: graph.interruptBefore ?? [], after: graph.interruptAfter ?? [] };
    deployed.set(graphId, { ...loaded, nodeNames, breakpoints, fingerprint: await fingerprintOf(graphId, graph) });
  };
  for (const source of config.graphs) await deploy(source);
  const get = (graphId: string): Deployed => {
    const found = deployed.get(graphId);
    if (found === undefined) throw new Error(`graph ${graphId} is not deployed`);
    return found;
  };
  const made = (address: StateAddress, access: FactoryRuntime["accessContext"]): Promise<MadeGraph> =>
    graphOfThread(get(address.graphId), address, access, { context, clock });
  return {
    deploy,
    list: () => [...deployed.values()],
    checkGiven: refuseControlValues,
    checkGivenSlowly: refuseControlValuesSlowly,
    describe: (graphId) => deployed.get(graphId) ?? null,
    async run(run, sink, signal, history) {
      const result = await tracedRun(tracing, codec, run, signal, async (callbacks) => {
        let own: MadeGraph;
        try {
          own = await graphOfRun(get(run.graphId), run, signal, { context, clock });
        } catch (error) {
          return withoutGraph(context, run, error, signal);
        }
        const bound = withOwnBreakpoints(run, get(run.graphId), own.graph);
        return runGraph(context, own.graph, own.fingerprint, bound, sink, signal, history, callbacks);
      });
      return withDeadlines(result, config.deadlines, run.graphId);
    },
    async state(address, options) {
      return readState(context, (await made(address, "threads.read")).graph, address, options.subgraphs);
    },
    async *history(address, query) {
      yield* readHistory(context, (await made(address, "threads.read")).graph, address, query);
    },
    async build(address, supersteps, metadata, operationId) {
      const { graph, fingerprint } = await made(address, "threads.update");
      return buildState(context, graph, fingerprint, address, supersteps, metadata, operationId);
    },
    async update(address, update, metadata, operationId) {
      const { graph, fingerprint } = await made(address, "threads.update");
      return updateState(context, graph, fingerprint, address, update, metadata, operationId);
    },
    async valuesOf(tx, stored, fingerprint) {
      const { graph } = deployed.get(fingerprint.graphId) ?? {};
      const rebuilt = await deltaValues(tx, codec, graph, stored, fingerprint);
      return {
        json: () => codec.toWire(pickOutputs(stored, fingerprint, rebuilt)),
        text: () => outputsText(stored, fingerprint, rebuilt),
      };
    },
    missingFor(graphId, stored, from, pausedAt) {
      const { factory, fingerprint } = get(graphId);
      // the run reads the graph itself (graph-factory.3)
      return factory === null ? missingParts(fingerprint, from, stored, pausedAt) : [];
    },
    async draw(graphId, depth, config) {
      return drawGraph(await graphToRead(get(graphId), config, "assistants.read", clock), depth);
    },
    async schemas(graphId) {
      const known = schemasOf(get(graphId).graph, library);
      return servedSchemas(await completeSchemas(known, () => types.read(graphId)));
    },
    async subgraphSchemas(graphId) {
      const schemas = new Map<string, GraphSchemas>();
      for await (const [namespace, subgraph] of get(graphId).graph.getSubgraphsAsync(undefined, true))
        schemas.set(
          namespace,
          servedSchemas(
            await completeSchemas(schemasOf(subgraph, library), async () => {
              const node = namespace.slice(namespace.lastIndexOf("|") + 1);
              return (await types.read(graphId))?.subgraphs?.[node] ?? null;
            }),
          ),
        );
      return schemas;
    },
    encode: (value) => (isLong(value) ? codec.encodeSlowly(value) : codec.encode(value)),
    toWire: (encoded) => codec.toWire(codec.decode(codec.parse(encoded))),
    storedWireText(encoded) {
      const stored = codec.parse(encoded);
      return stored.tagged ? codec.wireText(codec.decode(stored)) : encoded;
    },
    wireText: (value) => codec.wireText(value),
    longWireText: async (value) => (isLong(value) ? codec.wireTextSlowly(value) : null),
  };

  function outputsText(
    stored: StoredCheckpoint,
    { outputs }: Fingerprint,
    rebuilt: ReadonlyMap<string, unknown>,
  ): string {
    const text = (channel: string): string | null => {
      const kept = stored.values.get(channel);
      if (!rebuilt.has(channel) && kept?.text !== undefined && !kept.tagged) return kept.text;
      const decoded = kept === undefined ? undefined : codec.decode(kept);
      const value = rebuilt.has(channel) ? rebuilt.get(channel) : decoded;
      return value === undefined ? null : codec.wireText(value);
    };
    if (typeof outputs === "string") return text(outputs) ?? "null";
    const members: string[] = [];
    for (const channel of outputs) {
      const shown = text(channel);
      if (shown !== null) members.push(`${JSON.stringify(channel)}:${shown}`);
    }
    return `{${members.join(",")}}`;
  }

  function pickOutputs(
    stored: StoredCheckpoint,
    { outputs }: Fingerprint,
    rebuilt: ReadonlyMap<string, unknown>,
  ): unknown {
    const value = (channel: string): unknown => {
      if (rebuilt.has(channel)) return rebuilt.get(channel);
      const kept = stored.values.get(channel);
      return kept === undefined ? undefined : codec.decode(kept);
    };
    if (typeof outputs === "string") return value(outputs) ?? null;
    const values: Record<string, unknown> = {};
    for (const channel of outputs)
      if (rebuilt.has(channel) || stored.values.has(channel)) values[channel] = value(channel);
    return values;
  }
}
