// Answer places: the answers of the places of one attempt, and their rows. LangGraph saves the answers of a task; those
// of its tool calls, and what each answer showed, are in rows beside the task's own, under the id of their place.
// Invariants:
//   - LangGraph never reads these rows.
//   - They are written when the task writes: an answer is used when its task has ended, or asks again.
import type { CarriedAnswer } from "../../model/model.ts";
import { type ShownPayload, describePayload, isAlike } from "../../model/payload/shown-payload.ts";
import { type QuestionPlaces, parsePlace, thrownPlace } from "../langgraph/question-places.ts";
import { createRemoteTurns, type RemoteQuestion, type RemoteTurns } from "../langgraph/remote-turns.ts";
import type { Codec } from "./codec/value-codec.ts";

type Write = readonly [taskId: string, channel: string, value: unknown];
type TaskWrite = readonly [channel: string, value: unknown];

interface PlaceRow {
  readonly place: string;
  readonly list: TaskWrite[];
}

export interface AnswerPlaces extends QuestionPlaces {
  /** The answers that the run carries, in place of those before. */
  carry(answers: readonly CarriedAnswer[]): void;
  /** @param writes of a checkpoint, with the rows of places */
  read(writes: readonly Write[]): void;
  /** The rows beside those that a task writes now. */
  rowsBeside(taskId: string, list: readonly TaskWrite[]): readonly PlaceRow[];
  /** Before 1.7 LangGraph only passes the last interrupt of a task on. @returns the writes of the task, with all of them */
  withAllRaised(taskId: string, list: readonly TaskWrite[]): readonly TaskWrite[];
  /** Tool calls of a task by number, besides the first. */
  callsIn(taskId: string): readonly number[];
}

export interface PlacesSources {
  readonly codec: Codec;
  readonly now: () => number;
  readonly concurrent: QuestionPlaces["concurrent"];
  readonly moved: () => void;
}

interface SavedPlace {
  values: readonly unknown[];
  shown: readonly (ShownPayload | null)[];
}

/** Channel of what the answers of a place showed. */
const SHOWN = "__shown__";
const NONE: SavedPlace = { values: [], shown: [] };

/** @param taskId of a row of writes */
export function isPlaceRow(taskId: string): boolean {
  return taskId.includes("#");
}

export function createAnswerPlaces({ codec, now, concurrent, moved }: PlacesSources): AnswerPlaces {
  const saved = new Map<string, SavedPlace>();
  const carried = new Map<string, CarriedAnswer>();
  const used = new Map<string, readonly unknown[]>();
  const calls = new Map<string, Set<number>>();
  const raised = new Map<string, readonly unknown[]>();
  const asked = new Map<string, readonly unknown[]>();
  const usedBelow = new Set<string>();
  const remoteTurns = createRemoteTurns();
  const readShown = (place: string): (ShownPayload | null)[] => {
    const { shown } = saved.get(place) ?? NONE;
    const given = carried.get(place);
    if (given === undefined) return [...shown];
    return [...Array.from({ length: given.index }, (_, at) => shown[at] ?? null), given.shown ?? null];
  };
  const readAnswers = (place: string): readonly unknown[] => {
    const { values } = saved.get(place) ?? NONE;
    const given = carried.get(place);
    return given === undefined ? values : [...values.slice(0, given.index), given.value];
  };
  const rowOfPlace = (place: string, values: readonly unknown[]): PlaceRow => ({
    place,
    list: [["__resume__", values] as const, [SHOWN, readShown(place).slice(0, values.length)] as const],
  });
  return {
    concurrent,
    moved,
    readShown,
    answersOfCall(place) {
      const { taskId, call } = parsePlace(place);
      calls.set(taskId, (calls.get(taskId) ?? new Set()).add(call));
      return readAnswers(place);
    },
    takeBelow(taskIds, wanted) {
      const isBelow = (place: string): boolean =>
        taskIds.some((id) => id !== "" && place.startsWith(thrownPlace(id, "")));
      for (const place of new Set([...saved.keys(), ...carried.keys()])) {
        const at = isBelow(place) ? findShown(readShown(place), wanted, (n) => !usedBelow.has(`${place} ${n}`)) : -1;
        if (at < 0) continue;
        usedBelow.add(`${place} ${at}`);
        return { value: readAnswers(place)[at] };
      }
      return null;
    },
    findCarried: (place) => carried.get(place) ?? null,
    readRaised: (taskId) => asked.get(taskId) ?? [],
    describe: (value) => describe(codec, value, now()),
    isInInput: (input, texts) => isIn(codec, input, texts),
    noteRaised: (taskId, interrupts) => void raised.set(taskId, interrupts),
    withAllRaised: (taskId, list) => replaceRaised(list, raised.get(taskId) ?? []),
    noteUsed: (place, values) => void used.set(place, values),
    remoteTurns,
    carry(answers) {
      remoteTurns.restart();
      carried.clear();
      usedBelow.clear();
      for (const answer of answers) carried.set(answer.taskId, answer);
    },
    read(writes) {
      readRows(writes, saved);
      readRaised(writes, asked);
      noteAskers(writes, remoteTurns);
    },
    rowsBeside(taskId, list) {
      if (list.some(([channel]) => channel !== "__resume__")) remoteTurns.settle(taskId);
      const rows = [...(calls.get(taskId) ?? [])].flatMap((call) => {
        const place = `${taskId}#${call}`;
        const values = used.get(place);
        return values === undefined ? [] : [rowOfPlace(place, values)];
      });
      rows.push(...thrownPlaces(taskId, list, carried).map((place) => rowOfPlace(place, readAnswers(place))));
      const answers = list.find(([channel]) => channel === "__resume__")?.[1];
      const isDone = !list.some(([channel]) => channel === "__interrupt__" || channel === "__error__");
      const shown = Array.isArray(answers) && !isDone ? readShown(taskId).slice(0, answers.length) : [];
      if (shown.some((one) => one !== null)) rows.push({ place: `${taskId}#0`, list: [[SHOWN, shown] as const] });
      return rows;
    },
    callsIn: (taskId) => [...(calls.get(taskId) ?? [])],
  };
}

function readRows(writes: readonly Write[], saved: Map<string, SavedPlace>): void {
  for (const [id, channel, value] of writes) {
    if (!isPlaceRow(id) || !Array.isArray(value)) continue;
    const place = id.endsWith("#0") ? id.slice(0, -2) : id;
    const known = saved.get(place) ?? NONE;
    if (channel === "__resume__") saved.set(place, { ...known, values: value });
    else if (channel === SHOWN) saved.set(place, { ...known, shown: value as SavedPlace["shown"] });
  }
}

/** All interrupts of a task in place of one of them. */
function replaceRaised(list: readonly TaskWrite[], all: readonly unknown[]): readonly TaskWrite[] {
  const isOne = ([channel, value]: TaskWrite): boolean => channel === "__interrupt__" && all.includes(value);
  if (!list.some(isOne)) return list;
  return [["__interrupt__", all], ...list.filter(([channel]) => channel !== "__interrupt__")];
}

/** The task has run with these answers, whatever it made of them: it gets them once. A failure has used none. */
function thrownPlaces(
  taskId: string,
  list: readonly TaskWrite[],
  carried: ReadonlyMap<string, unknown>,
): readonly string[] {
  const failed = list.some(([channel]) => channel === "__error__");
  return failed ? [] : [...carried.keys()].filter((place) => place.startsWith(thrownPlace(taskId, "")));
}

/** The free place that showed this payload; next best, one that differs only in what changes with every call. */
function findShown(
  shown: readonly (ShownPayload | null)[],
  asked: ShownPayload,
  isFree: (at: number) => boolean,
): number {
  const equal = shown.findIndex((one, at) => isFree(at) && one?.exact === asked.exact);
  return equal >= 0 ? equal : shown.findIndex((one, at) => isFree(at) && one !== null && isAlike(one, asked));
}

/** Null for a value without a JSON form: it cannot be stored as an interrupt. */
function describe(codec: Codec, value: unknown, at: number): ReturnType<QuestionPlaces["describe"]> {
  try {
    return describePayload(codec.toClientJson(value), at, at);
  } catch {
    return null;
  }
}

function isIn(codec: Codec, input: unknown, texts: readonly string[]): boolean {
  try {
    const json = JSON.stringify(codec.toClientJson(input));
    return texts.some((text) => json.includes(text));
  } catch {
    return true;
  }
}

/** The interrupts that tasks had when a run began. @param raised by task */
function readRaised(writes: readonly Write[], raised: Map<string, readonly unknown[]>): void {
  for (const [taskId, list] of Map.groupBy(writes, ([id]) => id)) {
    const interrupts = list.filter(([, channel]) => channel === "__interrupt__");
    if (interrupts.length === 0) continue;
    raised.set(
      taskId,
      interrupts.flatMap(([, , value]) => value),
    );
  }
}

/** Channels of a task that runs again. */
const AT_REST: ReadonlySet<string> = new Set(["__interrupt__", "__resume__", "__error__"]);

/** Tasks that have asked on another server, and call it again in this run. */
function noteAskers(writes: readonly Write[], turns: Pick<RemoteTurns, "expect">): void {
  const done = new Set(writes.flatMap(([taskId, channel]) => (AT_REST.has(channel) ? [] : taskId)));
  for (const [taskId, channel, value] of writes) {
    if (channel !== "__interrupt__" || done.has(taskId)) continue;
    for (const { remote } of (Array.isArray(value) ? value : [value]) as readonly RemoteQuestion[])
      if (remote?.task_id === taskId) turns.expect(remote.thread, taskId);
  }
}
