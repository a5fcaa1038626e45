// Scripted graph: asks one question for an input, uses the answer, and writes a checkpoint and an event at each step.
// It says what no run may see: an answer whose question is not in the newest state.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Run, WriteSet, Checkpoint } from "@holdpoint/server/model/model.ts";
import type { GraphDescription, GraphRunResult, Graphs, RunSink, Storage } from "@holdpoint/server/ports/ports.ts";
import { isStorageFailure } from "@holdpoint/base/storage-failure.ts";
import type { Laws } from "./laws.ts";

export const GRAPH = "scripted";
const FINGERPRINT = { hash: "scripted", graphId: GRAPH, nodes: { "": ["ask"] }, channels: { "": {} }, outputs: [] };
const DESCRIPTION: GraphDescription = {
  graphId: GRAPH,
  description: null,
  fingerprint: FINGERPRINT,
  nodeNames: ["ask"],
};
const STEPS = 4;
const WAIT_CHANCE = 0.1;

interface GraphPorts {
  readonly storage: Storage;
  readonly laws: Laws;
  readonly random: () => number;
  readonly newId: () => string;
  /** Between two steps. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
}

export function createScriptedGraphs(ports: GraphPorts): Graphs {
  const known: Partial<Graphs> = {
    list: () => [DESCRIPTION],
    describe: (graphId) => (graphId === GRAPH ? DESCRIPTION : null),
    loadProblem: () => null,
    checkGiven: () => undefined,
    checkContext: () => undefined,
    missingFor: () => [],
    encode: (value) => JSON.stringify(value),
    toClientJson: (encoded) => JSON.parse(encoded) as JsonObject,
    clientText: (value) => JSON.stringify(value),
    readUnused: async (tx, run) => {
      const newest = await tx.checkpoint(run.threadId, "", null);
      return newest?.checkpoint.runId === run.runId ? [] : (run.request.command?.answers ?? []);
    },
    readValues: async () => ({ json: () => ({}), text: () => "{}" }),
    run: (run, sink, signal) => runScript(run, sink, signal, ports),
  };
  return known as Graphs;
}

/** What a checkpoint says: the steps of its run, and the question that is open there. */
interface Step {
  readonly step: number;
  readonly asked: string | null;
}

interface Script {
  readonly run: Run;
  readonly ports: GraphPorts;
  readonly sink: RunSink;
  parent: string | null;
  rows: Checkpoint[];
}

async function runScript(run: Run, sink: RunSink, signal: AbortSignal, ports: GraphPorts): Promise<GraphRunResult> {
  const [answer] = run.request.command?.answers ?? [];
  let newest;
  let isDeleted;
  try {
    newest = await ports.storage.read((tx) => tx.checkpoint(run.threadId, "", null));
    isDeleted = newest === null && (await ports.storage.read((tx) => tx.thread(run.threadId))) === null;
  } catch (error) {
    const failure = { error: "StorageError", message: "no state" };
    const storageFailed = isStorageFailure(error);
    return { ...NOTHING, outcome: { kind: "failed", error: failure, storageFailed } };
  }
  const before = newest === null ? null : (JSON.parse(newest.checkpoint.small) as Step);
  const isAgain = newest?.checkpoint.runId === run.runId;
  const script: Script = { run, ports, sink, parent: newest?.checkpoint.checkpointId ?? null, rows: [] };
  const take = (): WriteSet => ({ checkpoints: script.rows.splice(0), writes: [], blobs: [] });
  if (answer !== undefined && !isAgain && !isDeleted && before?.asked !== answer.interruptId)
    ports.laws.broken(`the answer to ${answer.interruptId} found ${JSON.stringify(before)}`);
  const result = (outcome: GraphRunResult["outcome"], used: boolean): GraphRunResult => ({
    ...NOTHING,
    outcome,
    rest: take(),
    checkpointId: script.parent,
    unused: answer === undefined || used ? [] : [answer],
  });
  let step = isAgain ? (before?.step ?? 0) : 0;
  for (; step < STEPS;) {
    if (signal.aborted) return result({ kind: "aborted" }, step > 0);
    step++;
    const asked = answer === undefined && step === STEPS ? nameQuestion(run) : null;
    addStep(script, { step, asked });
    if (step === STEPS) break;
    if (ports.random() < WAIT_CHANCE) await sink.now(take);
    else sink.soon(take);
    await ports.pause(signal);
  }
  if (answer !== undefined) return result({ kind: "done", values: {} }, true);
  return result({ kind: "question", values: {}, interrupts: [askQuestion(run, script.parent ?? "")] }, true);
}

const NOTHING = {
  rest: { checkpoints: [], writes: [], blobs: [] },
  checkpointId: null,
  overlay: null,
  unused: null,
  held: [],
} as const;

function addStep(script: Script, step: Step): void {
  const { run, ports, sink, parent } = script;
  const checkpointId = ports.newId();
  const body = JSON.stringify({ ts: "", versions: {}, seen: {}, from: { step: "", asked: "" } });
  script.rows.push({
    threadId: run.threadId,
    ns: "",
    checkpointId,
    parentId: parent,
    runId: run.runId,
    fingerprint: FINGERPRINT.hash,
    body,
    small: JSON.stringify(step),
    metadata: "{}",
  });
  script.parent = checkpointId;
  sink.emit({ name: "updates", data: JSON.stringify({ checkpointId, attempt: run.attempt }) });
}

/** Ids of the library are 32 hex digits. */
function nameQuestion({ runId }: Run): string {
  return runId.replaceAll("-", "");
}

function askQuestion(run: Run, checkpointId: string) {
  const id = nameQuestion(run);
  const place = { taskId: "task", graphNs: "", checkpointId, index: 0, ns: ["ask:1"], position: 0 };
  return { interruptId: id, libraryId: id, ...place, value: "?", responseSchema: null };
}
