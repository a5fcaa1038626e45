// Inbox counts in SQLite: the number of matching items, in parts.
// Invariant: a part reads at most PART_ROWS rows of the index that it follows, found or not, so it delays no other
// call.
import type { InterruptKind } from "../../../../model/model.ts";
import type {
  InboxPart,
  InboxPlace,
  InboxQuery,
  InboxTally,
  InterruptTx,
  MetadataTally,
} from "../../../../ports/ports.ts";
import { bucketAt } from "../../../shared/deadline-buckets.ts";
import type { Database, Row } from "../../client/database.ts";
import { planInbox } from "./inbox-plan.ts";

const PART_ROWS = 1000;
/** Rows of a search: each part reads the matching documents anew. */
const SEARCHED_ROWS = 10_000;

export function countVerbs(db: Database): Pick<InterruptTx, "countInbox" | "tallyInbox" | "tallyMetadata"> {
  const part = (query: InboxQuery, columns: string, join = "", group = ""): InboxPart<readonly Row[]> => {
    const { from, where, parameters, place, scan } = planInbox(db, query);
    const end = db.get(
      `SELECT ${place.join(", ")} FROM ${scan.from} WHERE ${scan.where} ORDER BY ${place.join(", ")} LIMIT 1 OFFSET ?`,
      ...scan.parameters,
      (query.search.length > 0 ? SEARCHED_ROWS : PART_ROWS) - 1,
    );
    const next = end === null ? null : readPlace(end);
    const until = next === null ? [] : [next.createdAt, next.threadId, next.interruptId];
    const within = next === null ? "" : ` AND (${place.join(", ")}) <= (?, ?, ?)`;
    return {
      found: db.all(`SELECT ${columns} FROM ${from}${join} WHERE ${where}${within}${group}`, ...parameters, ...until),
      next,
    };
  };
  return {
    countInbox(query) {
      const { found, next } = part(query, "count(*) AS n");
      return { found: Number(found[0]?.["n"]), next };
    },
    tallyInbox(query) {
      const { found, next } = part(query, FACETS);
      return { found: found.map((row) => toTally(row, query.now)), next };
    },
    tallyMetadata(query) {
      const { found, next } = part(query, "x.key, x.value, count(*) AS n", MEMBERS, " GROUP BY x.key, x.value");
      return { found: found.map(toMetadataTally), next };
    },
  };
}

const FACETS = `i.graph_id, i.assistant_id, i.node, i.kind, i.claim ->> '$.by' AS claimed_by,
  i.claim ->> '$.until' AS claimed_until, i.snoozed_until, i.expires_at`;

const MEMBERS = " CROSS JOIN inbox_metadata AS x ON x.thread_id = i.thread_id AND x.interrupt_id = i.interrupt_id";

function toMetadataTally(row: Row): MetadataTally {
  return { key: String(row["key"]), text: String(row["value"]), count: Number(row["n"]) };
}

function toTally(row: Row, now: number): InboxTally {
  const { claimed_by: by, claimed_until: until, snoozed_until: snoozed, expires_at: expiresAt } = row;
  const holds = typeof by === "string" && (typeof until !== "number" || until > now);
  return {
    graphId: String(row["graph_id"]),
    assistantId: String(row["assistant_id"]),
    node: String(row["node"]),
    kind: row["kind"] as InterruptKind,
    claimedBy: holds ? by : null,
    snoozed: typeof snoozed === "number" && snoozed > now,
    deadline: bucketAt(typeof expiresAt === "number" ? expiresAt : null, now),
    count: 1,
  };
}

function readPlace(row: Row): InboxPlace {
  return {
    expiresAt: null,
    priority: 0,
    createdAt: Number(row["created_at"]),
    threadId: String(row["thread_id"]),
    interruptId: String(row["interrupt_id"]),
  };
}
