// Converted row: a row of stored events as protocol events, converted once for all concurrent readers of the thread.
// Invariants:
//   - Readers of one row share its events and their text; at most KEPT_UNITS are kept.
//   - States and questions are read from storage only for readers whose filter can match them.
//   - Messages that a row leaves open are kept for the next row, at most OPEN_ROWS_MAX times. When they are not kept,
//     they are found in the earlier rows of the run.
//   - A state that is not stored any more is left out, with its checkpoint; the pair is never split.
import { inSlice } from "@holdpoint/base/slices.ts";
import type { AgentContext } from "../../context/context.ts";
import { storedBatch } from "../../events/stored-batch.ts";
import type { StateTx, StoredEvents } from "../../ports/ports.ts";
import { valuesAt } from "../../runs/run-result.ts";
import { type Converted, convertLine, type Draft } from "./convert-line.ts";
import { NO_MESSAGES, type OpenMessages } from "./message-events.ts";
import { requestedData } from "./root-lifecycle.ts";
import { type EventParts, type WireEvent, wireEvent } from "./wire-event.ts";
import { graphPath } from "../../model/interrupt.ts";

const KEPT_UNITS = 16 * 1024 * 1024;

interface Kept {
  /** Numbers of rows are of one database, and a process may have several. */
  readonly lines: string;
  readonly drafts: Promise<readonly Draft[]>;
  /** The events, by the parts of the row that were read from storage. */
  readonly events: Map<string, Promise<readonly WireEvent[]>>;
  units: number;
}

/** The data of a row that a reader needs besides its lines. */
export interface Wanted {
  readonly states: boolean;
  readonly questions: boolean;
}

export const EVERYTHING: Wanted = { states: true, questions: true };
export const LINES_ONLY: Wanted = { states: false, questions: false };

/** @param filter of a reader, its channels by name */
export function wantedBy({ channels }: { readonly channels: ReadonlySet<string> }): Wanted {
  return { states: channels.has("values") || channels.has("checkpoints"), questions: channels.has("input") };
}

const kept = new Map<string, Kept>();
let keptUnits = 0;

export async function convertedRow(
  agent: AgentContext,
  row: StoredEvents,
  wanted: Wanted,
): Promise<readonly WireEvent[]> {
  const entry = findKept(agent, row);
  const drafts = await entry.drafts;
  const lookups = drafts.filter((draft) => isWanted(draft, wanted)).length;
  const variant = lookups === 0 ? "" : JSON.stringify(wanted); // rows without lookups are the same for all readers
  let events = entry.events.get(variant);
  if (events === undefined)
    entry.events.set(variant, (events = filled(agent, row, { entry, drafts, wanted, variant })));
  return events;
}

function isWanted({ kind }: Draft, { states, questions }: Wanted): boolean {
  return (kind === "state" && states) || (kind === "question" && questions);
}

function findKept(agent: AgentContext, row: StoredEvents): Kept {
  const key = buildRowKey(row);
  const known = kept.get(key);
  if (known?.lines === row.lines) return known;
  if (known !== undefined) drop(key, known);
  const drafts = convert(agent, row);
  const entry: Kept = { lines: row.lines, drafts, events: new Map(), units: row.lines.length };
  kept.set(key, entry);
  keptUnits += entry.units;
  drafts.then(
    (made) => grow(key, entry, countUnits(made.flatMap((draft) => (draft.kind === "event" ? [draft.event] : [])))),
    () => {
      if (kept.get(key) === entry) drop(key, entry); // the next reader tries again
    },
  );
  return entry;
}

interface Filling {
  readonly entry: Kept;
  readonly drafts: readonly Draft[];
  readonly wanted: Wanted;
  readonly variant: string;
}

async function filled(
  agent: AgentContext,
  row: StoredEvents,
  { entry, drafts, wanted, variant }: Filling,
): Promise<readonly WireEvent[]> {
  const made: WireEvent[] = [];
  let units = 0;
  try {
    for (const draft of drafts) {
      if (draft.kind === "event") made.push(draft.event);
      else if (isWanted(draft, wanted)) {
        const found = await fill(agent, row.threadId, draft);
        units += countUnits(found);
        made.push(...found);
      }
    }
  } catch (error) {
    entry.events.delete(variant); // the next reader tries again
    throw error;
  }
  grow(buildRowKey(row), entry, units);
  return made;
}

const buildRowKey = ({ runId, seq }: StoredEvents): string => `${runId}/${seq}`;
const countUnits = (events: readonly WireEvent[]): number => events.reduce((sum, { text }) => sum + text.length, 0);

function grow(key: string, entry: Kept, units: number): void {
  if (kept.get(key) !== entry) return;
  keptUnits += units;
  entry.units += units;
  trim();
}

function trim(): void {
  for (const [key, entry] of kept) {
    if (keptUnits <= KEPT_UNITS) return;
    drop(key, entry);
  }
}

function drop(key: string, { units }: Kept): void {
  kept.delete(key);
  keptUnits -= units;
}

async function convert(agent: AgentContext, row: StoredEvents): Promise<readonly Draft[]> {
  const { drafts } = await convertDrafts(row, await openBefore(agent, row));
  return drafts;
}

async function convertDrafts(row: StoredEvents, before: OpenMessages): Promise<Converted> {
  const { events } = await storedBatch(row);
  const { runId, seq, first, last, storedAt } = row;
  return inSlice(() => {
    let after = before;
    const drafts: Draft[] = [];
    for (const event of events) {
      const place = { runId, row: seq, index: event.id - first, at: storedAt };
      const converted = convertLine(place, event, after);
      ({ after } = converted);
      drafts.push(...converted.drafts);
    }
    keepOpen(`${runId}/${last}`, after);
    return { drafts, after };
  });
}

const OPEN_ROWS_MAX = 1000;

/** By run and the last event of a row. */
const openAfter = new Map<string, OpenMessages>();

function keepOpen(key: string, open: OpenMessages): void {
  openAfter.delete(key);
  openAfter.set(key, open);
  if (openAfter.size <= OPEN_ROWS_MAX) return;
  for (const oldest of openAfter.keys()) {
    openAfter.delete(oldest);
    return;
  }
}

async function openBefore(agent: AgentContext, row: StoredEvents): Promise<OpenMessages> {
  const { runId, threadId, first, seq, lines } = row;
  if (first === 0 || lines.startsWith("metadata\t")) return NO_MESSAGES; // an attempt begins
  const known = openAfter.get(`${runId}/${first - 1}`);
  if (known !== undefined) return known;
  let open = NO_MESSAGES;
  for (let afterSeq = 0; ;) {
    const query = { runId, afterSeq, fromId: 0, limit: 1 };
    const [earlier] = await agent.storage.read((tx) => tx.events(threadId, query));
    if (earlier === undefined || earlier.seq >= seq) return open;
    afterSeq = earlier.seq;
    ({ after: open } = await convertDrafts(earlier, open));
  }
}

async function fill(
  agent: AgentContext,
  threadId: string,
  draft: Exclude<Draft, { readonly kind: "event" }>,
): Promise<readonly WireEvent[]> {
  return agent.storage.read(async (tx) => {
    if (draft.kind === "state") return stateEvents(agent, tx, { threadId, ...draft });
    const question = await tx.interrupt(threadId, draft.interruptId);
    if (question === null) return [];
    const parts = { ...draft.parts, namespace: graphPath(question) };
    return [wireEvent(parts, JSON.stringify(requestedData(question)))];
  });
}

export interface StateParts {
  readonly threadId: string;
  readonly checkpointId: string;
  readonly checkpoints: EventParts;
  readonly values: EventParts;
}

/** The checkpoint and the state that it has, both at the time of the checkpoint. */
export async function stateEvents(
  agent: AgentContext,
  tx: StateTx,
  { threadId, checkpointId, checkpoints, values }: StateParts,
): Promise<readonly WireEvent[]> {
  const [stored, state] = await Promise.all([
    tx.checkpoint(threadId, "", checkpointId),
    valuesAt(agent, tx, threadId, checkpointId),
  ]);
  if (stored === null || state === null) return [];
  const { checkpoint } = stored;
  const timestamp = Date.parse((JSON.parse(checkpoint.body) as { readonly ts: string }).ts);
  const { step, source } = JSON.parse(checkpoint.metadata) as { readonly step?: number; readonly source?: string };
  const envelope = {
    id: checkpoint.checkpointId,
    ...(checkpoint.parentId === null ? {} : { parent_id: checkpoint.parentId }),
    step: step ?? 0,
    source: source ?? "loop",
  };
  return [
    wireEvent({ ...checkpoints, timestamp }, JSON.stringify(envelope)),
    wireEvent({ ...values, timestamp }, state.text()),
  ];
}
