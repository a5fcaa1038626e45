// Run commands: run.start, input.respond and state.fork, by the same path as the REST calls that start and resume runs.
// Invariants:
//   - An answer counts by the id of its question alone; all answers of a command are taken, or none.
//   - Input is an answer only when its keys are ids of questions of the thread, whatever the thread does: a late answer is
//     refused, and no new input. Anything else is new input and gives the questions up: a chat message must not become a
//     decision. A server can be set to take any input as the answer of the only open question, but not an input for an
//     older checkpoint.
//   - The same answers of the same caller again are the success of the first time.
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { parse } from "@holdpoint/api/operation.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { type Json, type JsonObject, isJsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import { inTurn } from "./answer-turn.ts";
import type { Caller, Interrupt } from "../model/model.ts";
import { isAnswerMap } from "../interrupts/run-intent.ts";
import { startRun } from "../runs/accept/start-run.ts";
import { threadNotFound } from "../threads/find-thread.ts";
import { type CommandCall, type CommandResult, protocolRunCall, readableThread, threadWithin } from "./command-call.ts";
import { CommandError } from "./envelope.ts";

const json = z.unknown() as unknown as z.ZodType<Json>;
const object = z.record(z.string(), json) as unknown as z.ZodType<JsonObject>;
const namespace = z.array(z.string()).optional();

/** Members of a REST run that commands do not take: a client must not believe in a breakpoint that was dropped. */
const none = z.null("a command does not take it").optional();
const refused = {
  command: none,
  checkpoint: none,
  checkpoint_id: none,
  interrupt_before: none,
  interrupt_after: none,
  webhook: none,
  webhooks: none,
  notify: none,
  after_seconds: none,
};

const startParams = z.object({
  ...refused,
  assistant_id: z.string().min(1),
  input: json.optional(),
  config: object.nullish(),
  context: json.optional(),
  metadata: object.nullish(),
  multitaskStrategy: z.string().nullish(),
  multitask_strategy: z.string().nullish(),
  onPaused: z.string().nullish(),
  on_paused: z.string().nullish(),
});

const ANSWERS_MAX = 100;

const answer = z.object({ namespace, interrupt_id: z.string(), response: json.optional() });
const respondParams = z.object({
  ...refused,
  assistant_id: none,
  namespace,
  interrupt_id: z.string().optional(),
  response: json.optional(),
  responses: z.array(answer).min(1).max(ANSWERS_MAX).optional(),
  update: json.optional(),
  goto: json.optional(),
  config: object.nullish(),
  context: json.optional(),
  metadata: object.nullish(),
});

const forkParams = z.object({ checkpoint_id: z.string(), input: json.optional(), config: object.nullish() });

export async function startCommand(agent: AgentContext, call: CommandCall): Promise<CommandResult> {
  const params = parse(startParams, call.command.params ?? {}, "body");
  const { multitaskStrategy: one, multitask_strategy: other } = params;
  if (typeof one === "string" && typeof other === "string" && one !== other) {
    throw new CommandError("invalid_argument", `multitaskStrategy has two values: ${one} and ${other}.`);
  }
  const body = {
    assistant_id: params.assistant_id,
    ...startingPoint(call.threadId, params.config ?? {}),
    metadata: params.metadata ?? null,
    context: params.context ?? null,
    multitask_strategy: one ?? other ?? null,
    on_paused: params.onPaused ?? params.on_paused ?? null,
    if_not_exists: "create",
  } as JsonObject;
  const input = params.input ?? null;
  const given = await answersIn(agent, call.threadId, input);
  if (given === null) return startWith(agent, call, { ...body, input });
  const { assistantId, answers } = given;
  const answer = () => startWith(agent, call, { ...body, assistant_id: assistantId, command: { resume: answers } });
  return inTurn(agent, { threadId: call.threadId, interruptIds: Object.keys(answers) }, answer);
}

/** Hooks name the thread and the checkpoint in `configurable`. */
function startingPoint(threadId: string, config: JsonObject): JsonObject {
  const configurable = isJsonObject(config["configurable"]) ? config["configurable"] : {};
  const { thread_id: named, checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map, ...rest } = configurable;
  if (typeof named === "string" && named.toLowerCase() !== threadId) {
    throw new CommandError("invalid_argument", "config.configurable.thread_id differs from the thread in the path.");
  }
  const kept = { config: { ...config, configurable: rest } };
  if (typeof id !== "string") return kept;
  return { ...kept, checkpoint: { checkpoint_id: id, checkpoint_ns: ns ?? "", checkpoint_map: map ?? null } };
}

interface GivenAnswers {
  /** By interrupt id. */
  readonly answers: JsonObject;
  /** Assistant of the run that asked. */
  readonly assistantId: string;
}

/** @returns null when the input is new input */
async function answersIn(agent: AgentContext, threadId: string, input: Json): Promise<GivenAnswers | null> {
  if (!isAnswerMap(input)) return null;
  const known = await agent.storage.read((tx) => tx.interrupts(threadId, null));
  const named = known.filter(({ interruptId }) => Object.hasOwn(input, interruptId));
  const asker = known.find(({ state }) => state === "open") ?? named[0];
  const isAnswer = asker !== undefined && named.length === Object.keys(input).length;
  return isAnswer ? { answers: input, assistantId: asker.assistantId } : null;
}

async function startWith(
  agent: AgentContext,
  call: CommandCall,
  body: JsonObject,
  event: "threads:create_run" | "threads:answer" = "threads:create_run",
): Promise<CommandResult> {
  const { threadId } = call;
  const asked = await protocolRunCall(agent, call, body, event);
  if (event === "threads:create_run") agent.tenants?.find(call.caller).takeCalls(1);
  if (asked.ifNotExists === "reject") await threadWithin(agent, threadId, asked.reach.threads);
  const { run } = await startRun(agent, call.caller, { threadId, call: asked });
  return { result: { run_id: run.runId }, runId: run.runId };
}

/** @throws {CommandError} `invalid_argument` */
export function parseAnswers(params: unknown): ReadonlyMap<string, Json> {
  const { interrupt_id: id, response, responses } = parse(respondParams, params ?? {}, "body");
  const given = responses ?? (id === undefined ? [] : [{ interrupt_id: id, response }]);
  if (given.length === 0) {
    throw new CommandError(
      "invalid_argument",
      "input.respond needs interrupt_id and response, or a list of responses.",
    );
  }
  const answers = new Map(given.map((one) => [one.interrupt_id, one.response ?? null]));
  if (answers.size < given.length) {
    throw new CommandError("invalid_argument", "The command answers the same interrupt twice.");
  }
  return answers;
}

export async function respondCommand(agent: AgentContext, call: CommandCall): Promise<CommandResult> {
  const { threadId, caller, command } = call;
  const answers = parseAnswers(command.params);
  const { update, goto, config, context, metadata } = parse(respondParams, command.params ?? {}, "body");
  const isOnlyAnswer = [update, goto, config, context, metadata].every((more) => more === undefined || more === null);
  const { thread, known } = await agent.storage.read(async (tx) => ({
    thread: await tx.thread(threadId),
    known: await tx.interrupts(threadId, null),
  }));
  if (thread === null) throw threadNotFound(threadId);
  const named = known.filter(({ interruptId }) => answers.has(interruptId));
  const assistantId = named[0]?.assistantId ?? thread.assistantId;
  if (assistantId === null || named.length < answers.size) {
    await readableThread(agent, call); // a thread out of reach looks as if it were not there
    if (assistantId === null) throw new CommandError("no_such_run", "The thread has no run yet.");
    throw unknownQuestion(threadId, answers, known);
  }
  const body = {
    assistant_id: assistantId,
    command: {
      resume: Object.fromEntries(answers),
      ...(update === undefined ? {} : { update: toUpdate(update) }),
      ...(goto === undefined ? {} : { goto }),
    },
    config: config ?? null,
    context: context ?? null,
    metadata: metadata ?? null,
  } as JsonObject;
  const answer = () => startWith(agent, call, body, isOnlyAnswer ? "threads:answer" : "threads:create_run");
  try {
    return await inTurn(agent, { threadId, interruptIds: [...answers.keys()] }, answer);
  } catch (error) {
    const runId = error instanceof ApiError ? await answeredBefore(agent, threadId, caller, answers) : null;
    if (runId === null || !(error instanceof ApiError) || !("answered" in error.extra)) throw error;
    return { result: { run_id: runId }, runId };
  }
}

/** Some clients send an update as a list of entries. */
function toUpdate(update: Json): Json {
  const isEntries = Array.isArray(update) && update.every((one) => Array.isArray(one) && typeof one[0] === "string");
  return isEntries ? Object.fromEntries(update as readonly [string, Json][]) : update;
}

function unknownQuestion(threadId: string, answers: ReadonlyMap<string, Json>, known: readonly Interrupt[]): ApiError {
  const unknown = [...answers.keys()].find((id) => !known.some(({ interruptId }) => interruptId === id));
  const pending = known.filter(({ state }) => state === "open").map(({ interruptId }) => ({ id: interruptId }));
  const detail = `No interrupt ${unknown ?? ""} exists on this thread.`;
  return new ApiError("interrupt_unknown", detail, { thread_id: threadId, pending });
}

/** The run that took all of these answers from this caller. */
async function answeredBefore(
  agent: AgentContext,
  threadId: string,
  caller: Caller,
  answers: ReadonlyMap<string, Json>,
): Promise<string | null> {
  const known = await agent.storage.read((tx) => tx.interrupts(threadId, "answered"));
  let runId: string | null = null;
  for (const [id, value] of answers) {
    const given = known.find(({ interruptId }) => interruptId === id)?.answer ?? null;
    if (given === null || given.by !== caller.name || !isDeepStrictEqual(given.value, value)) return null;
    if (runId !== null && runId !== given.runId) return null;
    ({ runId } = given);
  }
  return runId;
}

export async function forkCommand(agent: AgentContext, call: CommandCall): Promise<CommandResult> {
  const { checkpoint_id: id, input, config } = parse(forkParams, call.command.params ?? {}, "body");
  const thread = await readableThread(agent, call);
  if (thread.assistantId === null) throw new CommandError("no_such_run", "The thread has no run yet.");
  const { result, runId } = await startWith(agent, call, {
    assistant_id: thread.assistantId,
    input: input ?? null,
    config: config ?? null,
    checkpoint: { checkpoint_id: id, checkpoint_ns: "" },
    multitask_strategy: "reject",
    on_paused: "abandon", // its questions belong to the line that the fork leaves
  });
  return { result: { ...result, thread_id: call.threadId }, ...(runId === undefined ? {} : { runId }) };
}
