// Graphs: the graph port of the server, over the deployed graphs.
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
import { REQUEST_GRAPH } from "../model/built-in-assistant.ts";
import type { Run } from "../model/model.ts";
import type {
  GraphRunResult,
  GraphSchemas,
  Graphs,
  History,
  OpenInterrupt,
  RunSink,
  StateAddress,
  Storage,
  Store,
  Tracing,
} from "../ports/ports.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { type Codec, createCodec } from "./checkpoints/codec/value-codec.ts";
import { missingParts } from "./checkpoints/graph-fingerprint.ts";
import { withAnswerRules } from "./config/answers-section.ts";
import { withDeadlines } from "./config/deadlines-section.ts";
import type { GraphSource, GraphsConfig } from "./config/langgraph-json.ts";
import { createGraphStore } from "./extensions/langgraph-store.ts";
import { rejectControlValues } from "./langgraph/control-values.ts";
import { localSubgraphs } from "./langgraph/compiled-graph.ts";
import { createInterruptIds } from "./langgraph/interrupt-ids.ts";
import type { Library } from "./langgraph/library.ts";
import { checkContext } from "./loading/check-context.ts";
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
import { GraphLoadError, loadGraph } from "./loading/load-graph.ts";
import type { RunContext } from "./run/run-context.ts";
import { runGraph } from "./run/run-graph.ts";
import { readUnused } from "./run/run-input.ts";
import { drawGraph } from "./schemas/graph-drawing.ts";
import { completeSchemas } from "./schemas/merge-schemas.ts";
import { servedSchemas } from "./schemas/message-definitions.ts";
import { buildSchemas } from "./schemas/runtime-schemas.ts";
import type { TypeReader } from "./schemas/type-reader.ts";
import { type StateEdit, buildState, updateState } from "./state/edit-state.ts";
import { readHistory, readState } from "./state/read-state.ts";
import { storedValues } from "./state/stored-values.ts";
import { tracedRun } from "./tracing/traced-run.ts";
import type { AskedQuestion } from "../model/request.ts";

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
  /** Size of the interrupts of one task, in bytes of JSON. */
  readonly interruptBytesMax: number;
  /** A graph that does not load is left out, instead of stopping the start. */
  readonly leavesOutFailed: boolean;
}

interface Deployment {
  readonly config: GraphsConfig;
  readonly ports: GraphsPorts;
  readonly context: RunContext;
  /** By graph id. */
  readonly graphs: Map<string, Deployed>;
  /** Why a graph is not among them, by its id. */
  readonly failed: Map<string, GraphLoadError>;
}

/** @throws {GraphLoadError} if a graph fails to load, unless those are left out */
export async function createGraphs(config: GraphsConfig, ports: GraphsPorts): Promise<DeployedGraphs> {
  const context = await buildContext(config, ports);
  const deployment: Deployment = { config, ports, context, graphs: new Map(), failed: new Map() };
  await deploy(deployment, requestSource(config, ports));
  for (const source of config.graphs) {
    await deploy(deployment, source).catch((error: unknown) => {
      if (!ports.leavesOutFailed) throw error;
    });
  }
  return {
    deploy: (source) => deploy(deployment, source),
    list: () => [...deployment.graphs.values()].filter(({ graphId }) => graphId !== REQUEST_GRAPH),
    checkGiven: rejectControlValues,
    describe: (graphId) => deployment.graphs.get(graphId) ?? null,
    loadProblem: (graphId) => deployment.failed.get(graphId)?.message ?? null,
    checkContext: (run) => checkContext(ports.library, deployment.graphs.get(run.graphId), run),
    run: (run, sink, signal, history) => runDeployed(deployment, run, { sink, signal, history }),
    readUnused: (tx, run) => readUnused(tx, context.codec, run),
    ...stateOperations(deployment),
    ...schemaOperations(deployment),
    ...textOperations(context.codec),
  };
}

/** @throws {GraphLoadError} if the deployment has a graph of this name */
function requestSource({ folder, graphs }: GraphsConfig, { library }: GraphsPorts): GraphSource {
  const sameName = graphs.find(({ graphId }) => graphId === REQUEST_GRAPH);
  if (sameName !== undefined) throw new GraphLoadError(sameName, "the name belongs to the server: choose another one");
  const place = { file: folder, exportName: REQUEST_GRAPH, description: "questions of programs" };
  return { ...place, graphId: REQUEST_GRAPH, given: buildRequestGraph(library) };
}

async function buildContext({ folder }: GraphsConfig, ports: GraphsPorts): Promise<RunContext> {
  const { library, storage, store, clock, interruptBytesMax } = ports;
  return {
    interruptBytesMax,
    library,
    codec: createCodec(library),
    ids: await createInterruptIds(library),
    read: (query) => storage.transaction(query),
    folder,
    store: createGraphStore(library, store),
    watched: new WeakSet(),
    concurrent: new WeakMap(),
    now: clock.now,
  };
}

async function deploy({ config, graphs, failed }: Deployment, source: GraphSource): Promise<void> {
  const { graphId } = source;
  try {
    const loaded = await loadGraph(source, config.folder);
    const { graph, factory } = loaded;
    const nodeNames = factory === null ? Object.keys(graph.nodes).filter((name) => name !== "__start__") : null;
    const breakpoints = { before: graph.interruptBefore ?? [], after: graph.interruptAfter ?? [] };
    graphs.set(graphId, { ...loaded, nodeNames, breakpoints });
    failed.delete(graphId);
  } catch (error) {
    if (error instanceof GraphLoadError && !graphs.has(graphId)) failed.set(graphId, error);
    throw error;
  }
}

function deployed({ graphs, failed }: Deployment, graphId: string): Deployed {
  const found = graphs.get(graphId);
  if (found === undefined) throw failed.get(graphId) ?? new Error(`graph ${graphId} is not deployed`);
  return found;
}

interface RunPorts {
  readonly sink: RunSink;
  readonly signal: AbortSignal;
  readonly history: History;
}

async function runDeployed(deployment: Deployment, run: Run, runPorts: RunPorts): Promise<GraphRunResult> {
  const { config, ports, context } = deployment;
  const { tracing, clock } = ports;
  const { signal } = runPorts;
  const result = await tracedRun({ tracing, codec: context.codec }, run, signal, async (callbacks) => {
    let own: MadeGraph;
    try {
      own = await graphOfRun(deployed(deployment, run.graphId), run, signal, { context, clock });
    } catch (error) {
      return withoutGraph(context, run, error, signal);
    }
    const bound = withOwnBreakpoints(run, deployed(deployment, run.graphId), own.graph);
    return runGraph(context, { ...runPorts, ...own, run: bound, callbacks });
  });
  const asked = withRequestSchema(result, run.graphId);
  return withAnswerRules(withDeadlines(asked, config.deadlines, run.graphId), config.answers);
}

type StateOperations = Pick<Graphs, "state" | "history" | "build" | "update" | "readValues">;

function stateOperations(deployment: Deployment): StateOperations {
  const { context, ports, graphs } = deployment;
  const made = (address: StateAddress, access: FactoryRuntime["accessContext"]): Promise<MadeGraph> =>
    graphOfThread(deployed(deployment, address.graphId), address, access, { context, clock: ports.clock });
  const editState = async (address: StateAddress, metadata: JsonObject, operationId: string): Promise<StateEdit> => {
    const { graph, fingerprint } = await made(address, "threads.update");
    return { graph, fingerprint, address, metadata, operationId };
  };
  return {
    async state(address, options) {
      return readState(context, (await made(address, "threads.read")).graph, address, options.subgraphs);
    },
    async *history(address, query) {
      yield* readHistory(context, (await made(address, "threads.read")).graph, address, query);
    },
    async build(address, supersteps, metadata, operationId) {
      return buildState(context, await editState(address, metadata, operationId), supersteps);
    },
    async update(address, update, metadata, operationId) {
      return updateState(context, await editState(address, metadata, operationId), update);
    },
    readValues: (tx, stored, fingerprint) =>
      storedValues(tx, context.codec, { stored, fingerprint, graph: graphs.get(fingerprint.graphId)?.graph }),
  };
}

type SchemaOperations = Pick<Graphs, "missingFor" | "draw" | "schemas" | "subgraphSchemas">;

function schemaOperations(deployment: Deployment): SchemaOperations {
  const { library, types, clock } = deployment.ports;
  return {
    missingFor(graphId, stored, from, pausedAt) {
      const { factory, fingerprint } = deployed(deployment, graphId);
      // the run reads the graph itself
      return factory === null ? missingParts(fingerprint, from, stored, pausedAt) : [];
    },
    async draw(graphId, depth, config) {
      const graph = await graphToRead(deployed(deployment, graphId), config, "assistants.read", clock);
      return drawGraph(graph, depth);
    },
    async schemas(graphId) {
      const known = buildSchemas(deployed(deployment, graphId).graph, library);
      return servedSchemas(await completeSchemas(known, () => types.read(graphId)));
    },
    async subgraphSchemas(graphId) {
      const schemas = new Map<string, GraphSchemas>();
      for await (const [namespace, subgraph] of localSubgraphs(deployed(deployment, graphId).graph)) {
        const node = namespace.slice(namespace.lastIndexOf("|") + 1);
        const known = buildSchemas(subgraph, library);
        const complete = await completeSchemas(
          known,
          async () => (await types.read(graphId))?.subgraphs?.[node] ?? null,
        );
        schemas.set(namespace, servedSchemas(complete));
      }
      return schemas;
    },
  };
}

type TextOperations = Pick<Graphs, "encode" | "toClientJson" | "storedClientText" | "clientText">;

function textOperations(codec: Codec): TextOperations {
  return {
    encode: (value) => codec.encode(value),
    toClientJson: (encoded) => codec.toClientJson(codec.decode(codec.parse(encoded))),
    storedClientText(encoded) {
      const stored = codec.parse(encoded);
      return stored.tagged ? codec.clientText(codec.decode(stored)) : encoded;
    },
    clientText: (value) => codec.clientText(value),
  };
}

// The built-in graph of requests. One node asks, and keeps the answer.

/** A graph of the project's copy of LangGraph, like those of the deployment. */
function buildRequestGraph({ langgraph }: Library): unknown {
  const { Annotation, END, START, StateGraph, interrupt } = langgraph;
  const State = Annotation.Root({ request: Annotation<AskedQuestion>(), answer: Annotation<unknown>() });
  return new StateGraph(State)
    .addNode("person", ({ request }) => ({ answer: interrupt<unknown, unknown>(request.payload) }))
    .addEdge(START, "person")
    .addEdge("person", END)
    .compile();
}

/** Gives the question the schema that its caller sent: it does not pass through the library, whose versions differ. */
function withRequestSchema(result: GraphRunResult, graphId: string): GraphRunResult {
  const { outcome } = result;
  if (graphId !== REQUEST_GRAPH || outcome.kind !== "question") return result;
  const { request } = outcome.values as { readonly request: AskedQuestion };
  const responseSchema: JsonObject | null = request.schema;
  const interrupts = outcome.interrupts.map((one): OpenInterrupt => ({ ...one, responseSchema }));
  return { ...result, outcome: { ...outcome, interrupts } };
}
