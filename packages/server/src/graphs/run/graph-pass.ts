// Graph pass: the graph runs once, to its pause or its end. An attempt has several passes when a task cannot be placed
// without a watch, and when a retry policy loses an answer.
import type { GraphOutcome } from "../../ports/ports.ts";
import type { CarriedAnswer } from "../../model/model.ts";
import { readableAnswer } from "../../model/run.ts";
import { isJsonObject } from "@holdpoint/base/json/json.ts";
import type { RawEvent, StreamConfig } from "../langgraph/compiled-graph.ts";
import { type OpenAttempt, savedState, withCallbacks } from "./attempt.ts";
import { openQuestions } from "./interrupts/open-interrupts.ts";
import { createTaskWatch } from "./interrupts/task-watch.ts";
import { firstInput, resumeInput, unusedAnswers } from "./run-input.ts";
import { type Chunk, isPause } from "../langgraph/stream-chunk.ts";
import { chunkInEvent, toChunk } from "./stream-modes.ts";

/** A retry policy loses an answer if the node fails after it; the run passes the answer again, at most this often. */
const ANSWER_PASSES_MAX = 3;

/** @param started a checkpoint of this run exists */
export async function runPasses(attempt: OpenAttempt, config: StreamConfig, started: boolean): Promise<GraphOutcome> {
  let answerPasses = 0;
  for (let pass = 0; ; pass++) {
    const paused = await streamKeeping(attempt, config, started || pass > 0);
    if (attempt.cause !== undefined) throw attempt.cause;
    attempt.values ??= (await savedState(attempt)).values; // a first node that interrupts at once streams no state
    const next = await afterPass(attempt, paused);
    if (next === "watch") continue;
    if (next !== "answer again") {
      await attempt.events.closing();
      return next;
    }
    if (++answerPasses === ANSWER_PASSES_MAX) return answerNotUsed();
  }
}

/** As streamGraph(). If the results of a pause do not fit together, new input goes on without them. */
async function streamKeeping(attempt: OpenAttempt, config: StreamConfig, resumes: boolean): Promise<boolean> {
  try {
    return await streamGraph(attempt, config, resumes);
  } catch (error) {
    if (attempt.cause !== undefined || attempt.signal.aborted || !attempt.saver.forgetResults()) throw error;
    return streamGraph(attempt, config, resumes); // no node has run yet
  }
}

/** @returns true if the stream showed a pause of any graph */
async function streamGraph(attempt: OpenAttempt, config: StreamConfig, resumes: boolean): Promise<boolean> {
  const { context, graph, run, plan, events, watch, callbacks } = attempt;
  const answers = attempt.unused;
  const resume = attempt.handed.hand(answers);
  attempt.places.carry(attempt.unused);
  const input = resumes
    ? resumeInput(context.library, resume)
    : await firstInput(context, run, resume, attempt.storedInput);
  const passConfig = withCallbacks(config, watch === null ? callbacks : [...callbacks, watch.callback]);
  let paused = false;
  const take = (chunk: Chunk): void => {
    if (chunk.mode === "values" && isPause(chunk.payload)) paused = true;
    else if (chunk.mode === "values" && chunk.ns.length === 0) attempt.values = chunk.payload;
    events.chunk(chunk);
  };
  events.again();
  if (plan.raw) {
    for await (const event of graph.streamEvents(input, passConfig)) {
      const chunk = chunkInEvent(event, run.runId, plan);
      if (chunk === null) events.raw(withoutSecrets(event, answers));
      else take(chunk);
    }
  } else {
    for await (const item of await graph.stream(input, passConfig)) {
      take(toChunk(item, plan));
    }
  }
  return paused;
}

/** The command that resumes is the input of an event of the library: there the answers are as readers may see them. */
function withoutSecrets(event: RawEvent, answers: readonly CarriedAnswer[]): RawEvent {
  const { input } = event.data;
  if (!isJsonObject(input) || input["lg_name"] !== "Command") return event;
  if (answers.every(({ masked }) => masked === undefined)) return event;
  const resume = Object.fromEntries(answers.map((answer) => [answer.libraryId, readableAnswer(answer)]));
  return { ...event, data: { ...event.data, input: { ...input, resume } } };
}

/** Why the graph runs once more. */
type Again = "watch" | "answer again";

async function afterPass(attempt: OpenAttempt, paused: boolean): Promise<GraphOutcome | Again> {
  const { context, graph, fingerprint, saver, watch, values, places } = attempt;
  attempt.unused = unusedAnswers(saver, attempt.unused);
  const sources = {
    graphs: saver.pending.graphs(),
    fingerprint,
    watch,
    ids: context.ids,
    codec: context.codec,
    places,
  };
  const { questions, doubtful } = openQuestions(sources);
  if (doubtful && watch === null) {
    context.watched.add(graph);
    attempt.watch = createTaskWatch();
    return "watch"; // the interrupted tasks run again, as after every answer
  }
  const askedAgain = attempt.unused.some((answer) =>
    questions.some((question) => question.taskId === answer.taskId && question.index === answer.index),
  );
  if (askedAgain) return "answer again";
  if (questions.length > 0) return { kind: "question", values, interrupts: questions };
  const next = paused ? (await savedState(attempt)).next : [];
  // A breakpoint after the last node stops nothing: there the run has ended.
  const stops = next.length > 0;
  attempt.events.ended(stops ? "paused" : "completed");
  return stops ? { kind: "breakpoint", values, next } : { kind: "done", values };
}

function answerNotUsed(): GraphOutcome {
  const message = `the node failed after its answer on each of ${ANSWER_PASSES_MAX} attempts, and its retry policy hid the cause`;
  return { kind: "failed", error: { error: "answer_not_used", message } };
}
