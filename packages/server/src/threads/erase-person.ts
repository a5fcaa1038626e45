// Erasure of a person (ARCHITECTURE.md, Erasure).
// Invariants:
//   erase-person.1. The pseudonym is random, and stored with the identifiers until the end: a call after a crash goes on with the
//        same one. At the end nothing relates both.
//   - Sessions end first, so that the person adds nothing meanwhile.
//   erase-person.3. A call works for a few seconds; each page of rows is a transaction that also stores where the next one
//        begins, with the server's other work in between. A caller cannot choose that place. A repeat of the last call,
//        whose reply may be lost, gets the end that the trail has.
//   erase-person.4. The trail says that it has begun, in the transaction of the first change, and how it has ended.
//   erase-person.5. Passes over all rows and traces repeat until one finds nothing, since rows can come behind the place. After
//        PASSES_MAX the end says that the last one still found some.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, parseJson } from "@holdpoint/base/json/json.ts";
import { createPersonalNames } from "@holdpoint/base/personal-names.ts";
import type { AgentContext } from "../context/context.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { AuditEntry, Caller } from "../model/model.ts";
import type {
  AuditTx,
  ErasedCounts,
  ErasedPage,
  ErasureCursor,
  ErasureTx,
  PeopleTx,
  PersonErasure,
  SearchTx,
  StoreTx,
} from "../ports/ports.ts";

export interface PersonStep {
  readonly person: string;
  readonly dryRun: boolean;
  /** `next` of the call before; null for the first call. */
  readonly cursor: string | null;
}

export interface ErasedStep {
  /** Null for a dry run. */
  readonly pseudonym: string | null;
  readonly places: ErasedCounts;
  readonly isComplete: boolean;
  /** Null at the end. */
  readonly next: string | null;
}

const PASS = { rows: null, isRowsDone: false, traces: null, foundInPass: 0 } as const;
const START: ErasureCursor = { ...PASS, pass: 1, found: 0, foundBefore: 0 };
const PASSES_MAX = 3;
const PAGE_ROWS = 16;
const WORK_MS = 3000;

/** @throws {ApiError} `person_not_found` if nothing names the person; `invalid_request` */
export async function erasePerson(agent: AgentContext, caller: Caller, step: PersonStep): Promise<ErasedStep> {
  const { clock } = agent;
  const { person, dryRun } = step;
  const places: Record<string, number> = {};
  const add = (place: string, count: number): void => {
    if (count > 0) places[place] = (places[place] ?? 0) + count;
  };
  const ended = dryRun ? null : await findEnd(agent, step);
  if (ended !== null) return ended;
  let erasure = await (dryRun ? planDryRun(agent, step) : beginErasure(agent, caller, { step, add }));
  const { pseudonym } = erasure;
  const until = clock.monotonic() + WORK_MS;
  while (!isEnd(erasure.at, dryRun)) {
    const moved = await advanceErasure(agent, { person, dryRun, erasure, add });
    if (moved === null) return { pseudonym, places, isComplete: true, next: null }; // another call has ended it
    erasure = moved;
    await new Promise<void>((resolve) => void clock.after(1, resolve)); // erase-person.3
    if (clock.monotonic() >= until && !isEnd(erasure.at, dryRun)) {
      const next = dryRun ? formatCursor(erasure.at) : pseudonym;
      return { pseudonym: dryRun ? null : pseudonym, places, isComplete: false, next };
    }
  }
  const isComplete = await endErasure(agent, caller, { step, erasure });
  return { pseudonym: dryRun ? null : pseudonym, places, isComplete, next: null };
}

/** erase-person.5. */
const isEnd = ({ pass, foundBefore }: ErasureCursor, dryRun: boolean): boolean =>
  pass > 1 && (dryRun || foundBefore === 0 || pass > PASSES_MAX);

const REPEATED_MS_MAX = 24 * 60 * 60 * 1000;
const ANY = { scope: null, threadId: null, graphId: null, assistantId: null, by: null, via: null, search: [] } as const;
const ENDS = { ...ANY, actions: ["person_removed"], until: null, after: null, limit: 100, scanMax: 10_000 } as const;

/** erase-person.3. @returns null if no erasure with this cursor has ended lately */
async function findEnd({ storage, clock }: AgentContext, { person, cursor }: PersonStep): Promise<ErasedStep | null> {
  if (cursor === null) return null;
  const rows = await storage.read(async (tx) => {
    if ((await tx.personErasure(person)) !== null) return [];
    return (await tx.searchAudit({ ...ENDS, since: clock.now() - REPEATED_MS_MAX })).rows;
  });
  for (const { entry } of rows) {
    const { subject, erased } = isJsonObject(entry.value) ? entry.value : {};
    const isEnded = erased === true || erased === "partly";
    if (subject === cursor && isEnded)
      return { pseudonym: cursor, places: {}, isComplete: erased === true, next: null };
  }
  return null;
}

/** A dry run only counts; its place comes back from the caller. */
async function planDryRun({ storage, newId }: AgentContext, { person, cursor }: PersonStep): Promise<PersonErasure> {
  const begun = await storage.transaction((tx) => tx.personErasure(person));
  const erasure = begun ?? (await storage.transaction((tx) => planErasure(tx, person, newId)));
  return { ...erasure, at: cursor === null ? START : readCursor(cursor) };
}

async function planErasure(tx: PeopleTx, name: string, newId: () => string): Promise<PersonErasure> {
  const person = await tx.person(name);
  const identifiers = person === null ? [name] : [name, person.email ?? "", person.subject, person.displayName];
  return { pseudonym: `erased-${newId().replaceAll("-", "").slice(-12)}`, identifiers, at: START };
}

type Add = (place: string, count: number) => void;

/** erase-person.1, erase-person.4. */
async function beginErasure(
  agent: AgentContext,
  caller: Caller,
  { step: { person: name, cursor }, add }: { readonly step: PersonStep; readonly add: Add },
): Promise<PersonErasure> {
  const { storage, access, newId } = agent;
  const { erasure, sessions, people } = await storage.transaction(async (tx) => {
    let begun = await tx.personErasure(name);
    if (cursor !== null && cursor !== begun?.pseudonym) throw foreignCursor();
    if (begun === null) {
      const own = await planErasure(tx, name, newId);
      await tx.beginPersonErasure(name, own);
      begun = (await tx.personErasure(name)) ?? own;
      if (begun.pseudonym === own.pseudonym)
        // or another call was first
        await tx.audit([buildEntry(agent, { caller, person: name, ...own }, "begun")]);
    }
    const ended = await tx.deletePersonSessions(name, null);
    const removed = Number(await tx.deletePerson(name));
    const found = begun.at.found + ended + removed;
    const moved = { ...begun, at: { ...begun.at, found } };
    await tx.movePersonErasure(name, moved);
    return { erasure: moved, sessions: ended, people: removed };
  });
  add("sessions", sessions);
  add("people", people);
  access?.changes?.ended(name);
  return erasure;
}

interface Advance {
  readonly person: string;
  readonly dryRun: boolean;
  readonly erasure: PersonErasure;
  readonly add: Add;
}

/** The next page of rows or traces. @returns null if the erasure has ended */
async function advanceErasure(agent: AgentContext, work: Advance): Promise<PersonErasure | null> {
  const { person, dryRun, erasure, add } = work;
  const { storage, traces } = agent;
  if (!erasure.at.isRowsDone)
    return storage.transaction(async (tx) => {
      const stored = dryRun ? erasure : await tx.personErasure(person);
      return stored === null ? null : erasePage(tx, stored, work);
    });
  const { at, identifiers } = erasure;
  const page = (await traces?.erasePerson(identifiers, dryRun, at.traces)) ?? { traces: 0, next: null };
  add("traces", page.traces);
  const counted = addFound(at, page.traces);
  const passed = { ...counted, ...PASS, pass: at.pass + 1, foundBefore: counted.foundInPass };
  const moved = { ...erasure, at: page.next === null ? passed : { ...counted, traces: page.next } };
  if (!dryRun) await storage.transaction((tx) => tx.movePersonErasure(person, moved));
  return moved;
}

const addFound = (at: ErasureCursor, rows: number): ErasureCursor => ({
  ...at,
  found: at.found + rows,
  foundInPass: at.foundInPass + rows,
});

type PageTx = ErasureTx & StoreTx & AuditTx & SearchTx;

async function erasePage(tx: PageTx, erasure: PersonErasure, { person, dryRun, add }: Advance): Promise<PersonErasure> {
  const { at, identifiers, pseudonym } = erasure;
  const names = createPersonalNames(identifiers, pseudonym);
  const page = await tx.erasePersonPage(at.rows, names, { rows: PAGE_ROWS, dryRun });
  const moved = { ...erasure, at: { ...addFound(at, page.rows), rows: page.next, isRowsDone: page.next === null } };
  if (!dryRun) {
    await follow(tx, page);
    await tx.movePersonErasure(person, moved);
  }
  add(page.table, page.rows);
  return moved;
}

async function follow(tx: PageTx, { threadIds, entries, items }: ErasedPage): Promise<void> {
  for (const { namespace, key } of items) await tx.deleteStoreItem(namespace, key);
  for (const entry of entries) await tx.noteErasedEntry(entry);
  for (const threadId of threadIds) await tx.unindexThread(threadId);
}

/** @returns whether the last pass found nothing */
async function endErasure(
  agent: AgentContext,
  caller: Caller,
  { step: { person, dryRun }, erasure }: { readonly step: PersonStep; readonly erasure: PersonErasure },
): Promise<boolean> {
  const { storage, log } = agent;
  const { pseudonym, at } = erasure;
  const isComplete = dryRun || at.foundBefore === 0;
  const isKnown = at.found > 0;
  if (!dryRun) {
    await storage.scrub(); // while the row of the erasure is there: a call after a crash does it again
    await storage.transaction(async (tx) => {
      if ((await tx.personErasure(person)) === null) return; // another call has ended it
      await tx.endPersonErasure(person);
      await tx.audit([buildEntry(agent, { caller, person, pseudonym }, isKnown && (isComplete || "partly"))]);
    });
  }
  if (!isKnown) throw new ApiError("person_not_found", `Nothing here names ${person}.`);
  if (dryRun) return isComplete;
  await storage.scrub(); // that row has the identifiers
  log.info("person_erased", { pseudonym, complete: isComplete, by: caller.name === person ? pseudonym : caller.name });
  return isComplete;
}

interface Names {
  readonly caller: Caller;
  readonly person: string;
  readonly pseudonym: string;
}

/** erase-person.4. */
function buildEntry(
  { clock }: AgentContext,
  { caller, person, pseudonym }: Names,
  erased: boolean | "begun" | "partly",
): AuditEntry {
  const author = caller.name === person ? { name: pseudonym } : caller;
  return buildAct(author, { action: "person_removed", at: clock.now(), subject: pseudonym, fields: { erased } });
}

const formatCursor = (place: ErasureCursor): string => Buffer.from(JSON.stringify(place)).toString("base64url");

/** @throws {ApiError} `invalid_request` */
function readCursor(cursor: string): ErasureCursor {
  const place = parseJson(Buffer.from(cursor, "base64url").toString());
  if (!isJsonObject(place)) throw foreignCursor();
  const { pass, rows, isRowsDone, traces, found, foundInPass, foundBefore } = place;
  const isPlace = rows === null || (isJsonObject(rows) && typeof rows["table"] === "string");
  const areNumbers = [pass, found, foundInPass, foundBefore].every((one) => typeof one === "number");
  const isCursor = traces === null || typeof traces === "string";
  if (!isPlace || !areNumbers || !isCursor || typeof isRowsDone !== "boolean") throw foreignCursor();
  return place as unknown as ErasureCursor;
}

function foreignCursor(): ApiError {
  const message = "must come from a reply of this server";
  return new ApiError("invalid_request", `cursor ${message}.`, { errors: [{ path: "cursor", message }] });
}
