// Assistants in SQLite: rows, their versions, search.
// Invariants:
//   sqlite/assistants.1. A filter's keys and values are bound parameters, never part of the SQL text.
//   sqlite/assistants.2. assistant_metadata has exactly the index rows of each assistant's metadata
//        (metadata-index.ts).
import type { SQLInputValue } from "node:sqlite";
import type { Assistant, AssistantVersion } from "../../../model/model.ts";
import type { AssistantFilter, AssistantTx } from "../../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { VERSION_COLUMNS } from "../../shared/columns.ts";
import type { Database } from "../client/database.ts";
import type { KeptRow } from "../client/kept-rows.ts";
import { indexText, metadataConditions } from "../../shared/metadata-filter.ts";
import { table } from "./shared/rows.ts";

const VERSIONS = table<AssistantVersion>("assistant_versions", VERSION_COLUMNS);
const ASSISTANTS = table<Assistant>("assistants", { ...VERSION_COLUMNS, updatedAt: ["updated_at", "plain"] });

const BYTES = "octet_length(metadata) + octet_length(config) + octet_length(context)";

export function assistantVerbs(db: Database): AssistantTx {
  db.defineFunction("name_contains", (name, part) => (String(name).toLowerCase().includes(String(part)) ? 1 : 0));
  const count = (sql: string, ...parameters: SQLInputValue[]): number => Number(db.get(sql, ...parameters)?.["n"] ?? 0);
  const kept = db.kept.assistants;
  return {
    assistant(assistantId) {
      const row =
        kept.get(assistantId) ??
        (db.get(`SELECT ${ASSISTANTS.columns} FROM assistants WHERE assistant_id = ?`, assistantId) as KeptRow | null);
      if (row === null) return null;
      kept.set(assistantId, row);
      return ASSISTANTS.read(row);
    },
    searchAssistants(query) {
      const { where, parameters } = buildWhere(query);
      const direction = query.descending ? "DESC" : "ASC"; // one clock reading for both, as in the index
      const rows = db.all(
        `SELECT assistant_id, ${BYTES} AS bytes FROM assistants ${where}
         ORDER BY ${query.sortBy} ${direction}, assistant_id ${direction} LIMIT ? OFFSET ?`,
        ...parameters,
        query.limit,
        query.offset,
      );
      return rows.map((row) => ({ id: String(row["assistant_id"]), bytes: Number(row["bytes"]) }));
    },
    countAssistants(query) {
      const { where, parameters } = buildWhere(query);
      return count(`SELECT count(*) AS n FROM assistants ${where}`, ...parameters);
    },
    countAllAssistants: () => count("SELECT count(*) AS n FROM assistants"),
    insertAssistant(assistant) {
      ASSISTANTS.insert(db, [assistant]);
      indexAssistant(db, assistant.assistantId, assistant.metadata);
    },
    updateAssistant(assistantId, patch) {
      ASSISTANTS.update(db, { keyColumn: "assistant_id", key: assistantId }, patch);
      kept.delete(assistantId);
      if (patch.metadata !== undefined) indexAssistant(db, assistantId, patch.metadata);
    },
    deleteAssistant(assistantId) {
      db.run("DELETE FROM assistant_versions WHERE assistant_id = ?", assistantId);
      db.run("DELETE FROM assistant_metadata WHERE assistant_id = ?", assistantId); // sqlite/assistants.2
      db.run("DELETE FROM assistants WHERE assistant_id = ?", assistantId);
      kept.delete(assistantId);
    },
    assistantVersions(assistantId, { metadata, limit, offset }) {
      const rows = db.all(
        `SELECT version, ${BYTES} AS bytes FROM assistant_versions
         WHERE assistant_id = ? AND (? IS NULL OR json_contains(metadata, ?)) ORDER BY version DESC LIMIT ? OFFSET ?`,
        assistantId,
        metadata === null ? null : "",
        JSON.stringify(metadata ?? {}),
        limit,
        offset,
      );
      return rows.map((row) => ({ id: Number(row["version"]), bytes: Number(row["bytes"]) }));
    },
    assistantVersion(assistantId, version) {
      const sql = `SELECT ${VERSIONS.columns} FROM assistant_versions WHERE assistant_id = ? AND version = ?`;
      const row = db.get(sql, assistantId, version);
      return row === null ? null : VERSIONS.read(row);
    },
    newestAssistantVersion: (assistantId) =>
      count("SELECT max(version) AS n FROM assistant_versions WHERE assistant_id = ?", assistantId),
    insertAssistantVersion: (version) => void VERSIONS.insert(db, [version]),
    deleteAssistantVersionsBefore(assistantId, version) {
      db.run("DELETE FROM assistant_versions WHERE assistant_id = ? AND version < ?", assistantId, version);
    },
  };
}

/** sqlite/assistants.2. */
function indexAssistant(db: Database, assistantId: string, metadata: JsonObject): void {
  db.run("DELETE FROM assistant_metadata WHERE assistant_id = ?", assistantId);
  for (const [key, value] of Object.entries(metadata)) {
    const text = indexText(value);
    if (text === null) continue;
    db.run("INSERT INTO assistant_metadata (key, value, assistant_id) VALUES (?, ?, ?)", key, text, assistantId);
  }
}

function buildWhere(query: AssistantFilter): { readonly where: string; readonly parameters: SQLInputValue[] } {
  const conditions: string[] = [];
  const parameters: SQLInputValue[] = [];
  const add = (condition: string, ...values: SQLInputValue[]): void => {
    conditions.push(condition);
    parameters.push(...values); // sqlite/assistants.1
  };
  const [graphId, ...others] = query.graphIds;
  if (graphId !== undefined && others.length === 0) add("graph_id = ?", graphId);
  // +: nearly all rows match, so SQLite reads in order
  else add("+graph_id IN (SELECT value FROM json_each(?))", JSON.stringify(query.graphIds));
  if (query.name !== null) add("name_contains(name, ?)", query.name.toLowerCase());
  const { indexed, oneOf, rest } = metadataConditions(query.scope, query.metadata);
  for (const { key, text } of indexed)
    add("assistant_id IN (SELECT assistant_id FROM assistant_metadata WHERE key = ? AND value = ?)", key, text);
  for (const { key, texts } of oneOf) {
    // A scope on `assistant_id` means the assistant itself.
    if (key === "assistant_id") add("assistant_id IN (SELECT value ->> '$' FROM json_each(?))", JSON.stringify(texts));
    else add(HAS_ONE_OF, key, JSON.stringify(texts));
  }
  for (const part of rest) add("json_contains(metadata, ?)", part);
  return { where: `WHERE ${conditions.join(" AND ")}`, parameters };
}

const HAS_ONE_OF =
  "assistant_id IN (SELECT assistant_id FROM assistant_metadata WHERE key = ? AND value IN (SELECT value FROM json_each(?)))";
