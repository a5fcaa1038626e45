// Crons in SQLite: rows, search, and the conditional update that assigns each tick once.
import type { SQLInputValue } from "node:sqlite";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Cron } from "../../../model/model.ts";
import type { CronFilter, CronTx } from "../../../ports/ports.ts";
import { CRON_COLUMNS } from "../../shared/columns.ts";
import type { Database, Row } from "../client/database.ts";
import { table } from "./shared/rows.ts";

type CronRow = Omit<Cron, "enabled"> & { readonly enabled: number };

const CRONS = table<CronRow>("crons", CRON_COLUMNS);

export function cronVerbs(db: Database): CronTx {
  return {
    cron(cronId) {
      const row = db.get(`SELECT ${CRONS.columns} FROM crons WHERE cron_id = ?`, cronId);
      return row === null ? null : read(row);
    },
    insertCron: (cron) => void CRONS.insert(db, [{ ...cron, enabled: Number(cron.enabled) }]),
    updateCron(cronId, { enabled, ...patch }) {
      CRONS.update(
        db,
        { keyColumn: "cron_id", key: cronId },
        { ...patch, ...(enabled === undefined ? {} : { enabled: Number(enabled) }) },
      );
    },
    deleteCron(cronId) {
      db.run("DELETE FROM crons WHERE cron_id = ?", cronId);
    },
    searchCrons(query) {
      const { where, parameters } = buildWhere(query);
      const direction = query.descending ? "DESC" : "ASC";
      const rows = db.all(
        `SELECT cron_id, octet_length(payload) + octet_length(metadata) AS bytes FROM crons ${where}
         ORDER BY ${query.sortBy} ${direction}, cron_id ${direction} LIMIT ? OFFSET ?`,
        ...parameters,
        query.limit,
        query.offset,
      );
      return rows.map((row) => ({ id: String(row["cron_id"]), bytes: Number(row["bytes"]) }));
    },
    countCrons(filter) {
      const { where, parameters } = buildWhere(filter);
      return Number(db.get(`SELECT count(*) AS n FROM crons ${where}`, ...parameters)?.["n"]);
    },
    dueCrons: (at, limit) =>
      db
        .all(
          `SELECT ${CRONS.columns} FROM crons WHERE next_run_date <= ? ORDER BY next_run_date, cron_id LIMIT ?`,
          at,
          limit,
        )
        .map(read),
    nextCronAt() {
      const at = db.get("SELECT min(next_run_date) AS at FROM crons WHERE next_run_date IS NOT NULL")?.["at"];
      return typeof at === "number" ? at : null;
    },
    claimTick: (cronId, dueAt, nextAt) =>
      db.run("UPDATE crons SET next_run_date = ? WHERE cron_id = ? AND next_run_date = ?", nextAt, cronId, dueAt) === 1,
  };
}

function read(row: Row): Cron {
  const { enabled, ...cron } = CRONS.read(row);
  return { ...cron, enabled: enabled === 1 };
}

function buildWhere(filter: CronFilter): { readonly where: string; readonly parameters: SQLInputValue[] } {
  const conditions: string[] = [];
  const parameters: SQLInputValue[] = [];
  const add = (condition: string, ...values: SQLInputValue[]): void => {
    conditions.push(condition);
    parameters.push(...values);
  };
  const members = [
    ...(filter.scope ?? [])
      .filter(({ op }) => op !== "in")
      .map(({ key, op, value }) => [key, op === "eq" ? value : [value]] as const),
    ...Object.entries(filter.metadata ?? {}),
  ];
  // Crons are few (at most 10,000), so this reads all of them.
  for (const [key, value] of members) add("json_contains(metadata, ?)", JSON.stringify({ [key]: value }));
  for (const { key, value } of (filter.scope ?? []).filter(({ op }) => op === "in")) {
    const any = "EXISTS (SELECT 1 FROM json_each(?) AS o WHERE json_contains(metadata, json_object(?, json(o.value))))";
    add(any, JSON.stringify((value as readonly Json[]).map((one) => JSON.stringify(one))), key);
  }
  if (filter.assistantId !== null) add("assistant_id = ?", filter.assistantId);
  if (filter.threadId !== null) add("thread_id = ?", filter.threadId);
  if (filter.enabled !== null) add("enabled = ?", Number(filter.enabled));
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, parameters };
}
