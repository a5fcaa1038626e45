// Erasure: where a thread's data is, beyond the tables that its deletion empties (ARCHITECTURE.md of the server, Erasure).
// Invariant cold/erasure.1: every table with a thread's id is counted, or is in KEPT with the reason.
import type { Webhook } from "../../model/model.ts";
import type { BegunErasure, ErasureTx } from "../../ports/ports.ts";
import { WEBHOOK_COLUMNS } from "../shared/columns.ts";
import { TABLES } from "../shared/sealed-columns.ts";
import { decodeNamespace } from "../shared/store-namespaces.ts";
import { personErasureVerbs } from "./erase-rows.ts";
import { type ColdSql, coldTable, readNumber } from "./cold-sql.ts";
import { putMeta } from "./sealing.ts";

/** Tables that keep a thread's id, without content. */
const KEPT: ReadonlySet<string> = new Set([
  "audit_deleted", // digests, which the chain needs
  "search_queue", // emptied by the next reading of the index
]);

const PLACES = Object.entries(TABLES)
  .filter(([name, { key, plain }]) => !KEPT.has(name) && [...key, ...plain].includes("thread_id"))
  .map(([name]) => name);

const BEGUN = "erasing thread ";

/** Callers choose the ids of threads: the id of an assistant, a run or a cron that is the same names no thread. */
function namesThread(text: string, threadId: string): boolean {
  const id = threadId.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<!(?:assistant|run|cron|graph)_id\\*"\s*:\s*\\*")${id}`).test(text);
}

export function erasureVerbs(sql: ColdSql): ErasureTx {
  const { schema } = sql;
  const webhooks = coldTable<Webhook>(sql, "webhooks", WEBHOOK_COLUMNS);
  const labelled = `FROM ${schema}store_items WHERE ${sql.includesText("('.' || ns)")}`;
  const encode = (label: string): string => `.${label}.`;
  return {
    ...personErasureVerbs(sql),
    async countThreadRows(threadId) {
      const counts = PLACES.map((name) => `(SELECT count(*) FROM ${schema}${name} WHERE thread_id = ?) AS ${name}`);
      const row = await sql.get(`SELECT ${counts.join(", ")}`, ...PLACES.map(() => threadId));
      return Object.fromEntries(PLACES.map((name) => [name, Number(row?.[name])]));
    },
    // An open one still has to tell its readers that the item is gone.
    eraseThreadRows: (threadId) =>
      sql.run(`DELETE FROM ${schema}notices WHERE thread_id = ? AND shown = 'closed'`, threadId),
    async threadErasures() {
      const rows = await sql.all(`SELECT value FROM ${schema}meta WHERE key LIKE '${BEGUN}%' ORDER BY key`);
      return rows.map((row) => JSON.parse(String(row["value"])) as BegunErasure);
    },
    putThreadErasure: (erasure) => putMeta(sql, BEGUN + erasure.threadId, JSON.stringify(erasure)),
    endThreadErasure: (threadId) => sql.run(`DELETE FROM ${schema}meta WHERE key = ?`, BEGUN + threadId),
    async webhooksNaming(text, after, limit) {
      const rows = await sql.all(`${webhooks.select} WHERE run_id > ? ORDER BY run_id LIMIT ?`, after, limit);
      const read = rows.map(webhooks.read);
      const naming = read.filter((one) => namesThread(JSON.stringify(one), text));
      return { ids: naming.map(({ runId }) => runId), next: rows.length < limit ? null : (read.at(-1)?.runId ?? null) };
    },
    async itemsLabelled(label, limit) {
      const rows = await sql.all(`SELECT ns, key ${labelled} LIMIT ?`, encode(label), limit);
      return rows.map((row) => ({ namespace: decodeNamespace(String(row["ns"])), key: String(row["key"]) }));
    },
    countItemsLabelled: (label) => readNumber(sql, `SELECT count(*) AS n ${labelled}`, encode(label)),
  };
}
