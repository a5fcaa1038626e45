// Question places: which answer an interrupt() call gets. LangGraph counts the interrupt() calls of a task, and hands
// the nth answer to the nth call. Calls of one task that run at the same time come in any order, so the server finds the
// place of each:
//   tool-calls.ts     each call of a tool counts its own questions
//   asked-payload.ts  an answer is handed to the call that shows what the person saw, or to none
// Both find the run through its checkpointer, in the config of the asynchronous context.
import type { DescribedPayload, ShownPayload } from "../../model/payload/shown-payload.ts";

import type { RemoteTurns } from "./remote-turns.ts";

/** Member of a run's checkpointer. */
export const PLACES = Symbol("holdpoint.places");

/** Answers and questions of the tasks of one attempt. A place is a task, or a tool call of a task (toolPlace). */
export interface QuestionPlaces {
  /** Answers of a tool call: those saved with its task, then the one that this run carries. */
  answersOfCall(place: string): readonly unknown[];
  /** What the answers of a place showed; null if that is unknown. */
  readShown(place: string): readonly (ShownPayload | null)[];
  describe(value: unknown): DescribedPayload | null;
  /** True if one of the texts is in the input of the task. */
  isInInput(input: unknown, texts: readonly string[]): boolean;
  /** The place has used its first `count` answers; they are saved with the task. */
  noteUsed(place: string, values: readonly unknown[]): void;
  /** The interrupts of all tool calls of a task, which leave it together. */
  noteRaised(taskId: string, interrupts: readonly unknown[]): void;
  /**
   * The answer to a question that shows this, asked below one of the tasks in a graph without checkpoints.
   * @returns null without one
   */
  takeBelow(taskIds: readonly string[], asked: ShownPayload): { readonly value: unknown } | null;
  /** The answer that this run carries for a place; null without one. */
  findCarried(place: string): { readonly index: number; readonly value: unknown } | null;
  /** The interrupts of a task when this run began, as they are stored. */
  readRaised(taskId: string): readonly unknown[];
  /** Turns of the tasks at threads of other servers. */
  readonly remoteTurns: RemoteTurns;
  /** The place of a carried answer shows something else now: the run ends. */
  moved(): void;
  /** Several questions of this node come at the same time. */
  readonly concurrent: { has(node: string): boolean; add(node: string): void };
}

/** The scratchpad of a task, in which LangGraph counts. */
export interface Scratchpad {
  interruptCounter: number;
  readonly resume: readonly unknown[];
  readonly nullResume?: unknown;
  readonly currentTaskInput?: unknown;
}

export interface TaskConfig {
  readonly places: QuestionPlaces;
  readonly pad: Scratchpad;
  readonly taskId: string;
  readonly place: string;
  readonly ns: string;
  readonly send: ((writes: readonly (readonly [string, unknown])[]) => void) | undefined;
}

type Configurable = Readonly<Record<PropertyKey, unknown>>;

/** @returns null outside of a task of the server's own runs */
export function readTaskConfig(configurable: unknown): TaskConfig | null {
  if (typeof configurable !== "object" || configurable === null) return null;
  const conf = configurable as Configurable;
  const places = (conf["__pregel_checkpointer"] as Configurable | undefined)?.[PLACES];
  const pad = conf["__pregel_scratchpad"];
  const taskId = conf["__pregel_task_id"];
  const ns = conf["checkpoint_ns"];
  if (places === undefined || typeof pad !== "object" || pad === null || typeof taskId !== "string") return null;
  return {
    places: places as QuestionPlaces,
    pad: pad as Scratchpad,
    taskId,
    place: padPlaces.get(pad as Scratchpad) ?? taskId,
    ns: typeof ns === "string" ? ns : "",
    send: conf["__pregel_send"] as TaskConfig["send"],
  };
}

/** Scratchpads of tool calls. */
const padPlaces = new WeakMap<Scratchpad, string>();

export function isCallPad(pad: Scratchpad): boolean {
  return padPlaces.has(pad);
}

/** A scratchpad for a tool call, with the answers of its place. */
export function newCallPad({ places, pad }: TaskConfig, place: string): Scratchpad {
  const own = {
    callCounter: 0,
    interruptCounter: -1,
    subgraphCounter: 0,
    resume: [...places.answersOfCall(place)],
    currentTaskInput: pad.currentTaskInput,
    consumeNullResume: () => undefined,
  };
  padPlaces.set(own, place);
  return own;
}

const STORAGE = Symbol.for("ls:tracing_async_local_storage");
const CONFIG = Symbol.for("lc:child_config");

interface Storage {
  getStore(): unknown;
  run<T>(store: unknown, work: () => T): T;
}

/** The config of the asynchronous context: one storage serves every copy of LangChain. */
export function readContextConfig(): Readonly<Record<string, unknown>> | undefined {
  const store = storage()?.getStore() as { readonly extra?: Configurable } | undefined;
  return store?.extra?.[CONFIG] as Readonly<Record<string, unknown>> | undefined;
}

export function runWithContextConfig<T>(config: object, work: () => T): T {
  return storage()?.run({ extra: { [CONFIG]: config } }, work) ?? work();
}

function storage(): Storage | undefined {
  return (globalThis as Configurable)[STORAGE] as Storage | undefined;
}

/** What one execution of a task has asked. A retry of the task begins anew: LangGraph sets its counter to -1. */
export interface Asking {
  count: number;
  /** Positions of the answers that were handed over. */
  readonly usedNumbers: Set<number>;
  /** Questions without an answer: the task ends with the first, unless it asks several at the same time. */
  open: unknown[];
  /** Tool calls by their number: their own scratchpads. */
  readonly calls: Map<number, Scratchpad>;
}

const askings = new WeakMap<Scratchpad, Asking>();

export function readAsking(pad: Scratchpad): Asking {
  const known = askings.get(pad);
  if (known !== undefined) return known;
  const asking: Asking = { count: 0, usedNumbers: new Set(), open: [], calls: new Map() };
  askings.set(pad, asking);
  let counter = pad.interruptCounter;
  Object.defineProperty(pad, "interruptCounter", {
    enumerable: true,
    get: () => counter,
    set(value: number) {
      counter = value;
      if (value !== -1) return;
      Object.assign(asking, { count: 0, open: [] });
      asking.usedNumbers.clear();
      asking.calls.clear();
    },
  });
  return asking;
}

/**
 * The place of an interrupt that no interrupt() call of the task raised: it was thrown, or comes from a remote graph or
 * from one without checkpoints. @param name its id, or its position in the task
 */
export function thrownPlace(taskId: string, name: string): string {
  return `${taskId}#thrown ${name}`;
}

/** True for an interrupt without an id: LangGraph cannot hand an answer to it. */
export function isThrownPlace(place: string): boolean {
  return /#thrown \d{1,4}$/.test(place);
}

/** Numbers of tool calls in namespaces follow those of subgraphs, which LangGraph counts from 1. */
const CALL_NUMBER_MIN = 1_000_000;

/** The first tool call of a step has the place of its task, as a lone one in LangGraph. @param call its position */
export function toolPlace(taskId: string, call: number): string {
  return call === 0 ? taskId : `${taskId}#${call}`;
}

export function callNamespace(ns: string, call: number): string {
  return call === 0 ? ns : `${ns}|${CALL_NUMBER_MIN + call}`;
}

/** The task of a place, and the call; 0 without one. */
export function parsePlace(place: string): { readonly taskId: string; readonly call: number } {
  const [taskId = "", call = "0"] = place.split("#");
  return { taskId, call: Number(call) };
}
