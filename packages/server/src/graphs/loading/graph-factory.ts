// Graph factory: an exported function that creates a graph for each use, from the config of that use.
// Rules:
//   - Each attempt of a run has its own graph, created with the run's config and context.
//   - A factory that throws, or exceeds its time limit, fails only that use, with an error that names the graph.
//   - A graph without the pending parts of its thread, or without nodes named by the run, does not run. Acceptance
//     cannot check them, because they depend on the config.
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import type { Fingerprint, Run } from "../../model/model.ts";
import type { GraphDescription, GraphRunResult, StateAddress } from "../../ports/ports.ts";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import { isStorageFailure } from "@holdpoint/base/storage-failure.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { computeFingerprint, missingParts } from "../checkpoints/graph-fingerprint.ts";
import type { CompiledGraph } from "../langgraph/compiled-graph.ts";
import { clientConfigurable, runConfigurable } from "../run/run-config.ts";
import { runError } from "../run/run-error.ts";
import type { RunContext } from "../run/run-context.ts";

/** The use, in the reference's terms. */
export interface FactoryRuntime {
  readonly accessContext: "threads.create_run" | "threads.read" | "threads.update" | "assistants.read";
  /** Null if no run is in progress. */
  readonly executionRuntime: { readonly context: unknown } | null;
}

/** @throws {Error} of the function, or because its result is not a graph */
export type GraphFactory = (config: object, runtime: FactoryRuntime) => Promise<CompiledGraph>;

export interface Deployed extends GraphDescription {
  /** The graph; for a factory, its graph for an empty config. */
  readonly graph: CompiledGraph;
  readonly factory: GraphFactory | null;
}

export interface MadeGraph {
  readonly graph: CompiledGraph;
  readonly fingerprint: Fingerprint;
}

export interface FactoryPorts {
  readonly context: RunContext;
  readonly clock: Clock;
}

export class GraphFactoryError extends Error {
  constructor(graphId: string, cause: unknown) {
    const { name, message } = describeError(cause);
    super(`the factory of the graph "${graphId}" failed: ${name}: ${message}`, { cause });
    this.name = "GraphFactoryError";
  }
}

/** Longest wait of a state call for its graph. */
const READ_MS_MAX = 30_000;

/** @throws {GraphFactoryError | ApiError} `node_unknown`, `graph_incompatible` */
export async function graphOfRun(
  deployed: Deployed,
  run: Run,
  signal: AbortSignal,
  ports: FactoryPorts,
): Promise<MadeGraph> {
  const { factory, graph, fingerprint } = deployed;
  if (factory === null) return { graph, fingerprint };
  const { library } = ports.context;
  const { configurable: _client, ...rest } = run.request.config;
  const config = { ...rest, configurable: runConfigurable(run, library), metadata: run.metadata };
  const runtime = {
    accessContext: "threads.create_run",
    executionRuntime: { context: run.request.context ?? undefined },
  } as const;
  const made = await ended(factory(config, runtime), signal).catch((error: unknown) => {
    throw new GraphFactoryError(deployed.graphId, error);
  });
  const own = await remembered(deployed, made, ports);
  requireNodes(run, made);
  await requirePending(run, own, ports.context);
  return { graph: made, fingerprint: own };
}

/**
 * Acceptance checks the right to disable compiled breakpoints, and knows those of the deployed graph only. Other
 * breakpoints of this run's graph stay on.
 */
export function withOwnBreakpoints(run: Run, { breakpoints }: Deployed, graph: CompiledGraph): Run {
  const { interruptBefore, interruptAfter } = run.request;
  const before = kept(interruptBefore, graph.interruptBefore, breakpoints?.before);
  const after = kept(interruptAfter, graph.interruptAfter, breakpoints?.after);
  if (before === interruptBefore && after === interruptAfter) return run;
  return { ...run, request: { ...run.request, interruptBefore: before, interruptAfter: after } };
}

type Names = "*" | readonly string[];

function kept(given: Names | null, compiled: Names | undefined, seen: Names | undefined): Names | null {
  if (given === null || given === "*" || compiled === undefined || seen === "*") return given;
  if (compiled === "*") return compiled;
  const unseen = compiled.filter((name) => !given.includes(name) && seen?.includes(name) !== true);
  return unseen.length === 0 ? given : [...given, ...unseen];
}

/** The graph for a state of a thread, created with the config of its newest run. @throws {ApiError} `graph_not_made` */
export async function graphOfThread(
  deployed: Deployed,
  { threadId, graphId }: Pick<StateAddress, "threadId" | "graphId">,
  accessContext: FactoryRuntime["accessContext"],
  ports: FactoryPorts,
): Promise<MadeGraph> {
  const { graph, fingerprint } = deployed;
  if (deployed.factory === null) return { graph, fingerprint };
  const config: JsonObject = (await ports.context.read((tx) => tx.thread(threadId)))?.config ?? {};
  const configurable = { ...clientConfigurable(config), thread_id: threadId, graph_id: graphId };
  const made = await graphToRead(deployed, { ...config, configurable }, accessContext, ports.clock);
  return { graph: made, fingerprint: await remembered(deployed, made, ports) };
}

/** @throws {ApiError} `graph_not_made` */
export async function graphToRead(
  { factory, graph, graphId }: Deployed,
  config: JsonObject,
  accessContext: FactoryRuntime["accessContext"],
  clock: Clock,
): Promise<CompiledGraph> {
  if (factory === null) return graph;
  const late = new AbortController();
  const cancel = clock.after(READ_MS_MAX, () => late.abort(new Error(`no graph after ${READ_MS_MAX / 1000} s`)));
  try {
    const given = { ...config, configurable: config["configurable"] ?? {} };
    return await ended(factory(given, { accessContext, executionRuntime: null }), late.signal);
  } catch (error) {
    throw new ApiError("graph_not_made", new GraphFactoryError(graphId, error).message);
  } finally {
    cancel();
  }
}

/** The result of a run without a graph. */
export function withoutGraph({ folder }: RunContext, run: Run, error: unknown, signal: AbortSignal): GraphRunResult {
  return {
    outcome: signal.aborted
      ? { kind: "aborted" }
      : { kind: "failed", error: runError(error, run, folder), storageFailed: isStorageFailure(error) },
    rest: EMPTY_WRITE_SET,
    checkpointId: null,
    overlay: null,
    unused: null,
    held: [],
  };
}

/** Checkpoints name the fingerprint of the graph that wrote them, so its row comes before the first one. */
async function remembered(deployed: Deployed, graph: CompiledGraph, ports: FactoryPorts): Promise<Fingerprint> {
  const own = await computeFingerprint(deployed.graphId, graph);
  if (own.hash === deployed.fingerprint.hash) return deployed.fingerprint;
  await ports.context.read((tx) => tx.putFingerprint(own, ports.clock.now()));
  return own;
}

function requireNodes({ graphId, request }: Run, { nodes }: CompiledGraph): void {
  const goto = [request.command?.goto ?? []].flat().map((target) => {
    return typeof target === "object" && target !== null && "node" in target ? target["node"] : target;
  });
  const breakpoints = [request.interruptBefore, request.interruptAfter].flatMap((names) =>
    Array.isArray(names) ? (names as readonly string[]) : [],
  );
  const unknown = [...breakpoints, ...goto].filter(
    (name): name is string => typeof name === "string" && name !== "__end__" && !Object.hasOwn(nodes, name),
  );
  if (unknown.length === 0) return;
  throw new ApiError("node_unknown", `The graph ${graphId} of this run has no node ${unknown.join(", ")}.`);
}

/** An input starts from the beginning, so nothing is pending then. */
async function requirePending(run: Run, own: Fingerprint, { read }: RunContext): Promise<void> {
  if (run.input !== null || run.request.command?.givesUp === true) return;
  const missing = await read(async (tx) => {
    const stored = await tx.checkpoint(run.threadId, "", run.request.checkpointId);
    const from = stored === null ? null : await tx.fingerprint(stored.checkpoint.fingerprint);
    if (stored === null || from === null) return [];
    const answered = new Set(run.request.command?.answers?.map(({ interruptId }) => interruptId));
    const asked = answered.size === 0 ? [] : await tx.interrupts(run.threadId, null);
    const pausedAt = asked.filter(({ interruptId }) => answered.has(interruptId)).map(({ ns }) => ns);
    return missingParts(own, from, stored, pausedAt);
  });
  if (missing.length === 0) return;
  const list = missing.join(", ");
  const detail = `The graph ${run.graphId} cannot continue this thread: created with this run's config, it lacks ${list}.`;
  throw new ApiError("graph_incompatible", detail, { missing });
}

/** Rejects if the signal aborts first. */
function ended<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
