// Erasure of a person (ARCHITECTURE.md, Erasure).
// Invariants:
//   erase-person.1. The pseudonym is random, and stored with the identifiers until the end: a call after a crash goes on with the
//        same one. At the end nothing relates both.
//   erase-person.2. Sessions end first, so that the person adds nothing meanwhile.
//   erase-person.3. A call works for a few seconds and says where the next one begins; each page of rows is a transaction,
//        with the server's other work in between.
//   erase-person.4. A first call that meets an unfinished erasure ends it as one that found something, with its act.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject } from "@holdpoint/base/json/json.ts";
import { createPersonalNames, type PersonalNames } from "@holdpoint/base/personal-names.ts";
import type { AgentContext } from "../context/context.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { Caller } from "../model/model.ts";
import type { ErasedCounts, ErasedPage, PersonErasure, ResealPlace, Tx } from "../ports/ports.ts";

export interface PersonStep {
  readonly person: string;
  readonly dryRun: boolean;
  /** Null for the first call. */
  readonly place: ErasurePlace | null;
}

/** Where the next call begins. */
export interface ErasurePlace {
  /** Null once all rows are done: then come traces. */
  readonly rows: ResealPlace | null;
  readonly traces: string | null;
  readonly isRowsDone: boolean;
  /** Of the calls before. */
  readonly found: number;
}

export interface ErasedStep {
  /** Null for a dry run. */
  readonly pseudonym: string | null;
  readonly places: ErasedCounts;
  /** Null at the end. */
  readonly next: ErasurePlace | null;
}

const START: ErasurePlace = { rows: null, traces: null, isRowsDone: false, found: 0 };
const PAGE_ROWS = 16;
const WORK_MS = 3000;

/** @throws {ApiError} `person_not_found` if nothing names the person */
export async function erasePerson(agent: AgentContext, caller: Caller, step: PersonStep): Promise<ErasedStep> {
  const { clock } = agent;
  const places: Record<string, number> = {};
  const add = (place: string, count: number): void => {
    if (count > 0) places[place] = (places[place] ?? 0) + count;
  };
  const { erasure, isRepeat } = await begin(agent, step, add);
  const names = createPersonalNames(erasure.identifiers, erasure.pseudonym);
  const until = clock.monotonic() + WORK_MS;
  let at = step.place ?? START;
  do {
    if (at.isRowsDone) {
      const page = await agent.traces?.erasePerson(erasure.identifiers, step.dryRun, at.traces);
      add("traces", page?.traces ?? 0);
      if ((page?.next ?? null) === null) return await end(agent, caller, { step, erasure, at, places, isRepeat });
      at = { ...at, traces: page?.next ?? null };
    } else {
      const page = await erasePage(agent, names, { at: at.rows, dryRun: step.dryRun });
      add(page.table, page.rows);
      at = { ...at, rows: page.next, isRowsDone: page.next === null };
    }
    await new Promise<void>((resolve) => void clock.after(1, resolve)); // erase-person.3
  } while (clock.monotonic() < until);
  return { pseudonym: step.dryRun ? null : erasure.pseudonym, places, next: { ...at, found: at.found + sum(places) } };
}

const sum = (places: ErasedCounts): number => Object.values(places).reduce((total, count) => total + count, 0);

/** erase-person.1, erase-person.2. */
async function begin(
  { storage, access, newId }: AgentContext,
  { person: name, dryRun, place }: PersonStep,
  add: (place: string, count: number) => void,
): Promise<{ readonly erasure: PersonErasure; readonly isRepeat: boolean }> {
  const found = await storage.transaction(async (tx) => {
    const begun = await tx.personErasure(name);
    const person = await tx.person(name);
    const own = person === null ? [name] : [name, person.email ?? "", person.subject, person.displayName];
    const erasure = begun ?? { pseudonym: `erased-${newId().replaceAll("-", "").slice(-12)}`, identifiers: own };
    const isRepeat = begun !== null && place === null; // erase-person.4
    if (dryRun) return { erasure, isRepeat, sessions: 0, people: 0 };
    if (begun === null) await tx.beginPersonErasure(name, erasure);
    const sessions = await tx.deletePersonSessions(name, null);
    return { erasure, isRepeat, sessions, people: Number(await tx.deletePerson(name)) };
  });
  add("sessions", found.sessions);
  add("people", found.people);
  if (!dryRun) access?.changes?.ended(name);
  return found;
}

function erasePage(
  { storage }: AgentContext,
  names: PersonalNames,
  { at, dryRun }: { readonly at: ResealPlace | null; readonly dryRun: boolean },
): Promise<ErasedPage> {
  return storage.transaction(async (tx) => {
    const page = await tx.erasePersonPage(at, names, { rows: PAGE_ROWS, dryRun });
    if (!dryRun) await follow(tx, page);
    return page;
  });
}

async function follow(tx: Tx, { threadIds, entries, items }: ErasedPage): Promise<void> {
  for (const { namespace, key } of items) await tx.deleteStoreItem(namespace, key);
  for (const entry of entries) await tx.noteErasedEntry(entry);
  for (const threadId of threadIds) await tx.unindexThread(threadId);
}

interface Ended {
  readonly step: PersonStep;
  readonly erasure: PersonErasure;
  readonly at: ErasurePlace;
  readonly places: ErasedCounts;
  readonly isRepeat: boolean;
}

async function end(
  { storage, clock, log }: AgentContext,
  caller: Caller,
  { step: { person, dryRun }, erasure, at, places, isRepeat }: Ended,
): Promise<ErasedStep> {
  const { pseudonym } = erasure;
  const isKnown = isRepeat || at.found + sum(places) > 0;
  const author = caller.name === person ? { name: pseudonym } : caller;
  const act = { action: "person_removed", at: clock.now(), subject: pseudonym, fields: { erased: true } } as const;
  if (!dryRun) await storage.scrub(); // while the row of the erasure is there: a call after a crash does it again
  if (!dryRun)
    await storage.transaction(async (tx) => {
      await tx.endPersonErasure(person);
      if (isKnown) await tx.audit([buildAct(author, act)]);
    });
  if (!isKnown) throw new ApiError("person_not_found", `Nothing here names ${person}.`);
  if (dryRun) return { pseudonym: null, places, next: null };
  await storage.scrub(); // that row has the identifiers
  log.info("person_erased", { pseudonym, by: author.name });
  return { pseudonym, places, next: null };
}

/** A place of a reply, as it comes back. */
export function isErasurePlace(value: unknown): value is ErasurePlace {
  if (!isJsonObject(value)) return false;
  const { rows, traces, isRowsDone, found } = value;
  const isPlace = rows === null || (isJsonObject(rows) && typeof rows["table"] === "string");
  return (
    isPlace &&
    (traces === null || typeof traces === "string") &&
    typeof isRowsDone === "boolean" &&
    typeof found === "number"
  );
}
