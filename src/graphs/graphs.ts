// Graphs: the port that the agent room talks to, over the graphs that were deployed.
import type { Fingerprint } from "../agent/model.ts";
import type {
  GraphDescription,
  GraphSchemas,
  Graphs,
  Storage,
  Store,
  StoredCheckpoint,
  Tracing,
} from "../agent/ports.ts";
import { refuseControlValues } from "./control-values.ts";
import { createCodec } from "./codec.ts";
import { completeSchemas } from "./complete-schemas.ts";
import type { GraphsConfig, GraphSource } from "./config-file.ts";
import { deltaValues } from "./delta-history.ts";
import { withDeadlines } from "./deadline-config.ts";
import { drawGraph } from "./drawing.ts";
import { fingerprintOf, missingParts } from "./fingerprint.ts";
import type { CompiledGraph } from "./graph.ts";
import { createInterruptIds } from "./interrupt-ids.ts";
import type { Library } from "./library.ts";
import { loadGraph } from "./load.ts";
import { runGraph, type RunContext } from "./run-graph.ts";
import { schemasOf } from "./schemas.ts";
import { createGraphStore } from "./store.ts";
import { buildState, readHistory, readState, updateState } from "./state.ts";
import { tracedRun } from "./traced-run.ts";
import type { TypeReader } from "./type-reader.ts";

interface Deployed extends GraphDescription {
  readonly graph: CompiledGraph;
}

export interface DeployedGraphs extends Graphs {
  /** Loads a graph, and puts it in the place of the one with its id. @throws {GraphLoadError} and the old one stays */
  deploy(source: GraphSource): Promise<void>;
}

/** @throws {GraphLoadError} when a graph does not load. */
export async function createGraphs(
  config: GraphsConfig,
  library: Library,
  storage: Storage,
  store: Store,
  types: TypeReader,
  tracing: Tracing | null,
): Promise<DeployedGraphs> {
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
    const { graphId, description, graph } = await loadGraph(source, config.folder);
    const nodeNames = Object.keys(graph.nodes).filter((name) => name !== "__start__");
    const breakpoints = { before: graph.interruptBefore ?? [], after: graph.interruptAfter ?? [] };
    const fingerprint = await fingerprintOf(graphId, graph);
    deployed.set(graphId, { graphId, description, graph, nodeNames, breakpoints, fingerprint });
  };
  for (const source of config.graphs) await deploy(source);
  const get = (graphId: string): Deployed => {
    const found = deployed.get(graphId);
    if (found === undefined) throw new Error(`graph ${graphId} is not deployed`);
    return found;
  };
  return {
    deploy,
    list: () => [...deployed.values()],
    checkGiven: refuseControlValues,
    describe: (graphId) => deployed.get(graphId) ?? null,
    async run(run, sink, signal, history) {
      const { graph, fingerprint } = get(run.graphId);
      const result = await tracedRun(tracing, codec, run, signal, (callbacks) =>
        runGraph(context, graph, fingerprint, run, sink, signal, history, callbacks),
      );
      return withDeadlines(result, config.deadlines, run.graphId);
    },
    state: (address, options) => readState(context, get(address.graphId).graph, address, options.subgraphs),
    history: (address, query) => readHistory(context, get(address.graphId).graph, address, query),
    build(address, supersteps, metadata, operationId) {
      const { graph, fingerprint } = get(address.graphId);
      return buildState(context, graph, fingerprint, address, supersteps, metadata, operationId);
    },
    update(address, update, metadata, operationId) {
      const { graph, fingerprint } = get(address.graphId);
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
    missingFor: (graphId, stored, from, pausedAt) => missingParts(get(graphId).fingerprint, from, stored, pausedAt),
    draw: (graphId, depth) => drawGraph(get(graphId).graph, depth),
    schemas: (graphId) => completeSchemas(schemasOf(get(graphId).graph, library), () => types.read(graphId)),
    async subgraphSchemas(graphId) {
      const schemas = new Map<string, GraphSchemas>();
      for await (const [namespace, subgraph] of get(graphId).graph.getSubgraphsAsync(undefined, true))
        schemas.set(namespace, schemasOf(subgraph, library));
      return schemas;
    },
    encode: (value) => codec.encode(value),
    toWire: (encoded) => codec.toWire(codec.decode(codec.parse(encoded))),
    wireText: (value) => codec.wireText(value),
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
