// Tool calls: several calls of one step (a ToolNode, or a node that calls tools) ask at the same time. Each counts its
// own questions, under its position among the calls of the model's message, so that the order of arrival does not matter.
// Rules:
//   - A call has the same place whenever its task runs again: its id, name and arguments find it.
//   - A call that asks waits until the other calls of its task have ended or ask as well. Then all their questions
//     leave the task as one interrupt.
//   - The first call of a message has the place of its task: a lone call behaves as in LangGraph.
import { isDeepStrictEqual } from "node:util";
import {
  type Scratchpad,
  type TaskConfig,
  callNamespace,
  isCallPad,
  newCallPad,
  readAsking,
  readContextConfig,
  readTaskConfig,
  toolPlace,
} from "./question-places.ts";

interface ToolCall {
  readonly type: "tool_call";
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

type Config = Readonly<Record<string, unknown>> | undefined;
type Invoke = (this: unknown, input: unknown, config?: Config) => Promise<unknown>;

/** The class of all tools. */
export interface ToolClass {
  readonly prototype: object;
}

const PATCHED = Symbol("holdpoint.tool-calls");

/** Idempotent. */
export function placeToolCalls({ prototype }: ToolClass): void {
  const tools = prototype as { invoke: Invoke; [PATCHED]?: true };
  if (tools[PATCHED] === true) return;
  tools[PATCHED] = true;
  const original = tools.invoke;
  tools.invoke = function invoke(input, config) {
    const task = isToolCall(input) ? readTaskConfig((config ?? readContextConfig())?.["configurable"]) : null;
    if (task === null || isCallPad(task.pad)) return original.call(this, input, config); // a tool that calls a tool
    const call = input as ToolCall;
    return callAtPlace(task, call, (number) => original.call(this, input, configOfCall(task, config, number)));
  };
}

function isToolCall(input: unknown): input is ToolCall {
  return typeof input === "object" && input !== null && "type" in input && input.type === "tool_call";
}

/** The calls of a task that are underway. */
interface Underway {
  readonly numbers: Set<number>;
  running: number;
  waiting: { readonly number: number; readonly interrupt: RaisedError; readonly leave: () => void }[];
}

interface RaisedError {
  interrupts: readonly unknown[];
}

const underways = new WeakMap<Scratchpad, Underway>();

async function callAtPlace<T>(task: TaskConfig, call: ToolCall, run: (number: number) => Promise<T>): Promise<T> {
  let underway = underways.get(task.pad);
  if (underway === undefined) underways.set(task.pad, (underway = { numbers: new Set(), running: 0, waiting: [] }));
  const number = findNumber(task.pad.currentTaskInput, call, underway.numbers);
  underway.numbers.add(number);
  underway.running++;
  try {
    return await run(number);
  } catch (error) {
    if (isInterrupt(error)) await leaveTogether(underway, number, error);
    if (isInterrupt(error)) task.places.noteRaised(task.taskId, error.interrupts);
    throw error;
  } finally {
    underway.numbers.delete(number);
    underway.running--;
    releaseWaiting(underway);
  }
}

function leaveTogether(underway: Underway, number: number, interrupt: RaisedError): Promise<void> {
  return new Promise((leave) => {
    underway.waiting.push({ number, interrupt, leave });
    releaseWaiting(underway);
  });
}

function releaseWaiting(underway: Underway): void {
  const { waiting, running } = underway;
  if (waiting.length === 0 || running > waiting.length) return;
  const ordered = waiting.toSorted((a, b) => a.number - b.number);
  const all = ordered.flatMap(({ interrupt }) => interrupt.interrupts);
  underway.waiting = [];
  for (const { interrupt, leave } of ordered) {
    interrupt.interrupts = all;
    leave();
  }
}

function isInterrupt(error: unknown): error is RaisedError {
  if (!(error instanceof Error) || !("interrupts" in error) || !Array.isArray(error.interrupts)) return false;
  return error.name === "GraphInterrupt" || error.name === "NodeInterrupt";
}

/** @param usedNumbers of calls that are underway: the same call can stand twice in a message */
function findNumber(input: unknown, call: ToolCall, usedNumbers: ReadonlySet<number>): number {
  const calls = callsIn(input);
  const isCall = (one: ToolCall): boolean =>
    one.id === call.id && one.name === call.name && isDeepStrictEqual(one.args, call.args);
  const position = calls.findIndex((one, at) => !usedNumbers.has(at) && isCall(one));
  if (position >= 0) return position;
  let number = calls.length + numberOfText(call.id ?? call.name);
  while (usedNumbers.has(number)) number++;
  return number;
}

/** Calls of the newest message that has some; a call that was sent alone stands for itself. */
function callsIn(input: unknown): readonly ToolCall[] {
  if (typeof input !== "object" || input === null) return [];
  const { lg_tool_call: sent, messages = input } = input as { readonly lg_tool_call?: ToolCall; messages?: unknown };
  if (sent !== undefined) return [sent];
  if (!Array.isArray(messages)) return [];
  const isCalling = (message: { readonly tool_calls?: unknown } | null): boolean =>
    Array.isArray(message?.tool_calls) && message.tool_calls.length > 0;
  const newest = (messages as ({ readonly tool_calls?: unknown } | null)[]).findLast(isCalling);
  return (newest?.tool_calls ?? []) as readonly ToolCall[];
}

const NUMBERS = 1_000_003;

/** A call that is in no message. */
function numberOfText(text: string): number {
  let number = 1;
  for (let at = 0; at < text.length; at++) number = (number * 31 + text.charCodeAt(at)) % NUMBERS;
  return number + 1;
}

function configOfCall(task: TaskConfig, config: Config, number: number): Config {
  if (number === 0) return config;
  const given = config ?? readContextConfig() ?? {};
  const { places, pad, taskId, ns, send } = task;
  const { calls } = readAsking(pad);
  const place = toolPlace(taskId, number);
  let own = calls.get(number);
  if (own === undefined) calls.set(number, (own = newCallPad(task, place)));
  const configurable = {
    ...(given["configurable"] as object),
    checkpoint_ns: callNamespace(ns, number),
    __pregel_scratchpad: own,
    __pregel_send: (writes: readonly (readonly [string, unknown])[]) => {
      const answers = writes.filter(([channel]) => channel === "__resume__");
      for (const [, values] of answers) places.noteUsed(place, values as readonly unknown[]);
      const others = writes.filter(([channel]) => channel !== "__resume__");
      if (others.length > 0) send?.(others);
    },
  };
  const inner = given["config"]; // a tool passes it to what it calls
  const isOfTask = typeof inner === "object" && inner !== null;
  return { ...given, configurable, ...(isOfTask ? { config: { ...inner, configurable } } : {}) };
}
