// Id resolution: a typed id prefix → the matching object.
// Invariants:
//   - An unambiguous id prefix is enough; an ambiguous one lists the matches and changes nothing.
//   - The search covers at most LISTED_MAX objects; beyond that, use the full id.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { Thread } from "@holdpoint/api/schemas.ts";
import type { FoundAuditEntry } from "@holdpoint/api/audit.ts";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Client, Query } from "./api-client.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";

const LISTED_MAX = 10_000;
const PAGE = 1000;
const TRACES_PAGE = 200;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

interface PagedList {
  readonly path: string;
  readonly query: Query;
  /** Items of one call. */
  readonly page: number;
}

async function cursored<T>(client: Client, { path, query, page }: PagedList, limit: number): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  do {
    const { items, next_cursor }: Page<T> = await client.get(path, {
      ...query,
      limit: Math.min(page, limit - found.length),
      cursor,
    });
    found.push(...items);
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined && found.length < limit);
  return found;
}

export function inboxItems(client: Client, query: Query, limit: number): Promise<readonly InboxItem[]> {
  return cursored(client, { path: "/inbox", query, page: PAGE }, limit);
}

const AUDIT_PAGE = 200;

export function auditEntries(client: Client, query: Query, limit: number): Promise<readonly FoundAuditEntry[]> {
  return cursored(client, { path: "/audit", query, page: AUDIT_PAGE }, limit);
}

export function searchTraces(client: Client, query: Query, limit: number): Promise<readonly TraceItem[]> {
  return cursored(client, { path: "/traces", query, page: TRACES_PAGE }, limit);
}

/** Pages of a search that takes `limit` and `offset`. */
export async function paged<T>(client: Client, path: string, search: JsonObject, limit: number): Promise<readonly T[]> {
  const found: T[] = [];
  for (;;) {
    const wanted = Math.min(PAGE, limit - found.length);
    const page: readonly T[] = await client.post(path, { ...search, limit: wanted, offset: found.length });
    found.push(...page);
    if (page.length < wanted || found.length >= limit) return found;
  }
}

export function searchThreads(client: Client, search: JsonObject, limit: number): Promise<readonly Thread[]> {
  return paged(client, "/threads/search", search, limit);
}

/**
 * `"0fb6"`, `"01a1…/0fb6…"` or a console URL with that ending → the items, in that order.
 * Without an open item, those that were answered in the threads changed last.
 */
export async function findItems(client: Client, words: readonly string[]): Promise<readonly InboxItem[]> {
  const wanted = words.map(parsePlace);
  const all = wanted.every(isWhole) ? [] : await inboxItems(client, {}, LISTED_MAX);
  const found: InboxItem[] = [];
  for (const place of wanted) {
    const open = all.filter(({ id, thread_id }) => id.startsWith(place.id) && thread_id.startsWith(place.thread));
    const closed = isWhole(place) ? place : open.length > 0 ? null : await closedItem(client, place);
    const item: InboxItem =
      closed === null
        ? only(open, place.word, formatAddress, {
            what: "open item",
            list: `${client.program} inbox ls`,
            listed: all.length,
          })
        : await client.get(`/inbox/${closed.thread}/${closed.id}`);
    if (!found.some(({ id, thread_id }) => id === item.id && thread_id === item.thread_id)) found.push(item);
  }
  return found;
}

const formatAddress = ({ id, thread_id: thread }: InboxItem): string => `${thread}/${id}`;

interface Place {
  readonly word: string;
  readonly thread: string;
  readonly id: string;
}

const CLOSED_THREADS_MAX = 50;
const CLOSED_ID_UNITS_MIN = 8;

interface Audit {
  readonly items: readonly { readonly interrupt_id: string | null; readonly thread_id: string }[];
}

/** A late answer learns who answered: the audit trails of the threads that changed last name their interrupts. */
async function closedItem(client: Client, { thread, id }: Place): Promise<Omit<Place, "word"> | null> {
  if (id.length < CLOSED_ID_UNITS_MIN) return null;
  const search = { select: ["thread_id"], sort_by: "updated_at", sort_order: "desc" };
  const recent = UUID.test(thread) ? [{ thread_id: thread }] : await searchThreads(client, search, CLOSED_THREADS_MAX);
  const named = recent.map(({ thread_id: candidate }) => candidate).filter((candidate) => candidate.startsWith(thread));
  const trails = await Promise.all(
    named.map((candidate): Promise<Audit> => client.get(`/threads/${candidate}/audit`, { limit: PAGE })),
  );
  for (const { interrupt_id: found, thread_id: of } of trails.flatMap(({ items }) => items))
    if (found?.startsWith(id) === true) return { thread: of, id: found };
  return null;
}

function parsePlace(word: string): Place {
  const [id = "", thread = ""] = word.toLowerCase().split("/").toReversed();
  return { word, thread, id };
}

const isWhole = ({ thread, id }: Place): boolean => UUID.test(thread) && INTERRUPT_ID.test(id);

export async function findThread(client: Client, word: string): Promise<string> {
  const wanted = word.toLowerCase();
  if (UUID.test(wanted)) return wanted;
  const all = await searchThreads(client, { select: ["thread_id"] }, LISTED_MAX);
  const matching = all.map(({ thread_id }) => thread_id).filter((id) => id.startsWith(wanted));
  return only(matching, word, (id) => id, { what: "thread", list: `${client.program} threads ls`, listed: all.length });
}

export async function findTrace(client: Client, word: string): Promise<string> {
  const wanted = word.toLowerCase();
  if (UUID.test(wanted)) return wanted;
  const all = await searchTraces(client, {}, LISTED_MAX);
  const matching = all.map(({ trace_id }) => trace_id).filter((id) => id.startsWith(wanted));
  return only(matching, word, (id) => id, { what: "trace", list: `${client.program} trace ls`, listed: all.length });
}

/** The thread that the traces name; senders may give it any text. */
export async function findTracedThread(client: Client, word: string): Promise<string> {
  const wanted = word.toLowerCase();
  if (!/^[0-9a-f]{8}-[0-9a-f-]*$/.test(wanted) || UUID.test(wanted)) return word;
  const all = await searchTraces(client, {}, LISTED_MAX);
  const threads = [...new Set(all.map(({ thread_id: id }) => id ?? ""))].filter((id) => id.startsWith(wanted));
  return only(threads, word, (id) => id, {
    what: "thread of a trace",
    list: `${client.program} trace ls`,
    listed: all.length,
  });
}

interface Listing {
  readonly what: string;
  /** The command that lists the objects. */
  readonly list: string;
  readonly listed: number;
}

const NAMED_MAX = 5;

/** @throws {CliError} */
export function only<T>(
  matching: readonly T[],
  word: string,
  readName: (one: T) => string,
  { what, list, listed }: Listing,
): T {
  const [one, ...others] = matching;
  if (one === undefined) {
    const whole = listed < LISTED_MAX ? "" : ` among ${listed}; use the full id`;
    throw new CliError(`no ${what} has an id starting with "${word}"${whole}: see ${list}`);
  }
  if (others.length === 0) return one;
  const names = matching.slice(0, NAMED_MAX).map(readName).join(", ");
  const more = matching.length > NAMED_MAX ? `, and ${matching.length - NAMED_MAX} more` : "";
  throw new CliError(`"${word}" is ambiguous: ${names}${more}; use a longer prefix`, EXIT.failed);
}
