// Crons in PostgreSQL: rows, search, and the conditional update that assigns each tick to one server.
// Invariant tables/crons.1: a read of a cron holds its lock until the end of the transaction, as a change does.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Cron } from "../../../model/model.ts";
import type { CronFilter, CronTx } from "../../../ports/ports.ts";
import { CRON_COLUMNS } from "../../shared/columns.ts";
import { createConditions, type Conditions } from "./shared/conditions.ts";
import { table } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";
import { toJsonText } from "../client/text-encoding.ts";

const CRONS = table<Cron>("crons", { ...CRON_COLUMNS, metadata: ["metadata", "searched"] });

const cronKey = (cronId: string): string => `cron ${cronId}`;

export function cronVerbs(db: Sql): CronTx {
  return {
    async cron(cronId) {
      db.hold(cronKey(cronId));
      const row = await db.get(`SELECT ${CRONS.columns} FROM holdpoint.crons WHERE cron_id = $1`, cronId);
      return row === null ? null : CRONS.read(row);
    },
    insertCron: (cron) => CRONS.insert(db, [cron]),
    updateCron(cronId, patch) {
      db.hold(cronKey(cronId));
      CRONS.patch(db, "cron_id", cronId, patch);
    },
    deleteCron(cronId) {
      db.hold(cronKey(cronId));
      db.run("DELETE FROM holdpoint.crons WHERE cron_id = $1", cronId);
    },
    async searchCrons(query) {
      const search = buildConditions(query);
      const direction = query.descending ? "DESC NULLS LAST" : "ASC NULLS FIRST";
      const rows = await db.all(
        `SELECT cron_id, octet_length(payload) + octet_length(metadata) AS bytes FROM holdpoint.crons ${search.where()}
         ORDER BY ${query.sortBy} ${direction}, cron_id ${direction}
         LIMIT ${search.mark(query.limit)} OFFSET ${search.mark(query.offset)}`,
        ...search.parameters,
      );
      return rows.map((row) => ({ id: String(row["cron_id"]), bytes: Number(row["bytes"]) }));
    },
    async countCrons(filter) {
      const search = buildConditions(filter);
      const sql = `SELECT count(*) AS n FROM holdpoint.crons ${search.where()}`;
      return Number((await db.get(sql, ...search.parameters))?.["n"]);
    },
    async dueCrons(at, limit) {
      const rows = await db.all(
        `SELECT ${CRONS.columns} FROM holdpoint.crons
         WHERE next_run_date IS NOT NULL AND next_run_date <= $1 ORDER BY next_run_date, cron_id LIMIT $2`,
        at,
        limit,
      );
      return rows.map(CRONS.read);
    },
    async nextCronAt() {
      const sql = "SELECT min(next_run_date) AS at FROM holdpoint.crons WHERE next_run_date IS NOT NULL";
      const at = (await db.get(sql))?.["at"];
      return typeof at === "number" ? at : null;
    },
    async claimTick(cronId, dueAt, nextAt) {
      db.hold(cronKey(cronId)); // the first caller gets it
      const sql = "UPDATE holdpoint.crons SET next_run_date = $1 WHERE cron_id = $2 AND next_run_date = $3";
      return (await db.count(sql, nextAt, cronId, dueAt)) === 1;
    },
  };
}

function buildConditions(filter: CronFilter): Conditions {
  const search = createConditions();
  const members = [
    ...(filter.scope ?? [])
      .filter(({ op }) => op !== "in")
      .map(({ key, op, value }) => [key, op === "eq" ? value : [value]] as const),
    ...Object.entries(filter.metadata ?? {}),
  ];
  // Crons are few (at most 10,000), so this reads all of them.
  for (const [key, value] of members)
    search.add("metadata::jsonb @> ?::jsonb", toJsonText(JSON.stringify(Object.fromEntries([[key, value]]))));
  for (const { key, value } of (filter.scope ?? []).filter(({ op }) => op === "in")) {
    const members = (value as readonly Json[]).map((one) =>
      toJsonText(JSON.stringify(Object.fromEntries([[key, one]]))),
    );
    search.add("metadata::jsonb @> ANY(?::jsonb[])", members);
  }
  if (filter.assistantId !== null) search.add("assistant_id = ?", filter.assistantId);
  if (filter.threadId !== null) search.add("thread_id = ?", filter.threadId);
  if (filter.enabled !== null) search.add("enabled = ?", filter.enabled);
  return search;
}
