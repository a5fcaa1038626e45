// Crons: rows, search, and the conditional update that assigns each tick once.
// A read of a cron holds its lock until the end of the transaction, as a change does.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Cron } from "../../model/model.ts";
import type { CronFilter, CronTx } from "../../ports/ports.ts";
import { CRON_COLUMNS } from "../shared/columns.ts";
import { type ColdSql, coldTable, readNumber } from "./cold-sql.ts";
import { type Conditions, createConditions, listSized } from "./conditions.ts";

export function cronVerbs(sql: ColdSql): CronTx {
  const { schema } = sql;
  const crons = coldTable<Cron>(sql, "crons", {
    ...CRON_COLUMNS,
    enabled: ["enabled", "flag"],
    metadata: ["metadata", "searched"],
  });
  const hold = (cronId: string): void => sql.hold(`cron ${cronId}`);
  return {
    async cron(cronId) {
      hold(cronId);
      return crons.readOrNull(await sql.get(`${crons.select} WHERE cron_id = ?`, cronId));
    },
    insertCron: (cron) => crons.insert(cron),
    updateCron(cronId, patch) {
      hold(cronId);
      crons.patch("cron_id", cronId, patch);
    },
    deleteCron(cronId) {
      hold(cronId);
      sql.run(`DELETE FROM ${schema}crons WHERE cron_id = ?`, cronId);
    },
    searchCrons(query) {
      const { sortBy, descending, limit, offset } = query;
      const direction = descending ? "DESC NULLS LAST" : "ASC NULLS FIRST";
      const order = `${sortBy} ${direction}, cron_id ${direction}`;
      const page = { table: "crons", id: "cron_id", sized: ["payload", "metadata"], order, limit, offset };
      return listSized<string>(sql, page, buildConditions(sql, query));
    },
    countCrons(filter) {
      const { where, values } = buildConditions(sql, filter);
      return readNumber(sql, `SELECT count(*) AS n FROM ${schema}crons ${where()}`, ...values);
    },
    async dueCrons(at, limit) {
      const due = "next_run_date IS NOT NULL AND next_run_date <= ?";
      const rows = await sql.all(`${crons.select} WHERE ${due} ORDER BY next_run_date, cron_id LIMIT ?`, at, limit);
      return rows.map(crons.read);
    },
    async nextCronAt() {
      const next = `SELECT min(next_run_date) AS at FROM ${schema}crons WHERE next_run_date IS NOT NULL`;
      const at = (await sql.get(next))?.["at"];
      return typeof at === "number" ? at : null;
    },
    async claimTick(cronId, dueAt, nextAt) {
      hold(cronId); // the first caller gets it
      const claim = `UPDATE ${schema}crons SET next_run_date = ? WHERE cron_id = ? AND next_run_date = ?`;
      return (await sql.count(claim, nextAt, cronId, dueAt)) === 1;
    },
  };
}

/** Crons are few (at most 10,000): a search by metadata reads all of them. */
function buildConditions(sql: ColdSql, filter: CronFilter): Conditions {
  const conditions = createConditions();
  const contains = (key: string, values: readonly Json[]): void => {
    const parts = values.map((value) => sql.toSearched(JSON.stringify({ [key]: value })));
    conditions.add(sql.containsOneOf("metadata"), parts);
  };
  for (const { key, op, value } of filter.scope ?? []) {
    if (op === "in") contains(key, value as readonly Json[]);
    else contains(key, [op === "eq" ? value : [value]]);
  }
  for (const [key, value] of Object.entries(filter.metadata ?? {})) contains(key, [value]);
  if (filter.assistantId !== null) conditions.add("assistant_id = ?", filter.assistantId);
  if (filter.threadId !== null) conditions.add("thread_id = ?", filter.threadId);
  if (filter.enabled !== null) conditions.add("enabled = ?", Number(filter.enabled));
  return conditions;
}
