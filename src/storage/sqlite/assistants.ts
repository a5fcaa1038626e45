// Assistants in SQLite: rows, their versions, search.
import type { SQLInputValue } from "node:sqlite";
import type { Assistant, AssistantVersion } from "../../agent/model.ts";
import type { AssistantFilter, Tx } from "../../agent/ports.ts";
import type { Database } from "./database.ts";
import { addMetadataConditions } from "./metadata-filter.ts";
import { table, type Columns } from "./rows.ts";

const VERSION_COLUMNS: Columns<AssistantVersion> = {
  assistantId: ["assistant_id", "plain"],
  graphId: ["graph_id", "plain"],
  name: ["name", "plain"],
  description: ["description", "plain"],
  metadata: ["metadata", "json"],
  config: ["config", "json"],
  context: ["context", "value"],
  version: ["version", "plain"],
  createdAt: ["created_at", "plain"],
};
const VERSIONS = table<AssistantVersion>("assistant_versions", VERSION_COLUMNS);
const ASSISTANTS = table<Assistant>("assistants", { ...VERSION_COLUMNS, updatedAt: ["updated_at", "plain"] });

type AssistantVerbs =
  | "assistant"
  | "searchAssistants"
  | "countAssistants"
  | "countAllAssistants"
  | "insertAssistant"
  | "updateAssistant"
  | "deleteAssistant"
  | "assistantVersions"
  | "assistantVersion"
  | "newestAssistantVersion"
  | "insertAssistantVersion"
  | "deleteAssistantVersionsBefore";

export function assistantVerbs(db: Database): Pick<Tx, AssistantVerbs> {
  db.defineFunction("name_contains", (name, part) => (String(name).toLowerCase().includes(String(part)) ? 1 : 0));
  const count = (sql: string, ...parameters: SQLInputValue[]): number => Number(db.get(sql, ...parameters)?.["n"] ?? 0);
  return {
    assistant(assistantId) {
      const row = db.get(`SELECT ${ASSISTANTS.columns} FROM assistants WHERE assistant_id = ?`, assistantId);
      return row === null ? null : ASSISTANTS.read(row);
    },
    searchAssistants(query) {
      const { where, parameters } = filterOf(query);
      const direction = query.descending ? "DESC" : "ASC"; // one for both, as the index has them
      const rows = db.all(
        `SELECT ${ASSISTANTS.columns} FROM assistants ${where}
         ORDER BY ${query.sortBy} ${direction}, assistant_id ${direction} LIMIT ? OFFSET ?`,
        ...parameters,
        query.limit,
        query.offset,
      );
      return rows.map(ASSISTANTS.read);
    },
    countAssistants(query) {
      const { where, parameters } = filterOf(query);
      return count(`SELECT count(*) AS n FROM assistants ${where}`, ...parameters);
    },
    countAllAssistants: () => count("SELECT count(*) AS n FROM assistants"),
    insertAssistant: (assistant) => ASSISTANTS.insert(db, [assistant]),
    updateAssistant(assistantId, patch) {
      ASSISTANTS.update(db, "assistant_id", assistantId, patch);
    },
    deleteAssistant(assistantId) {
      db.run("DELETE FROM assistant_versions WHERE assistant_id = ?", assistantId);
      db.run("DELETE FROM assistants WHERE assistant_id = ?", assistantId);
    },
    assistantVersions(assistantId, { metadata, limit, offset }) {
      const conditions = ["assistant_id = ?"];
      const parameters: SQLInputValue[] = [assistantId];
      const add = (condition: string, ...values: SQLInputValue[]): void => {
        conditions.push(condition);
        parameters.push(...values);
      };
      addMetadataConditions(add, { scope: null, metadata });
      const rows = db.all(
        `SELECT ${VERSIONS.columns} FROM assistant_versions WHERE ${conditions.join(" AND ")}
         ORDER BY version DESC LIMIT ? OFFSET ?`,
        ...parameters,
        limit,
        offset,
      );
      return rows.map(VERSIONS.read);
    },
    assistantVersion(assistantId, version) {
      const sql = `SELECT ${VERSIONS.columns} FROM assistant_versions WHERE assistant_id = ? AND version = ?`;
      const row = db.get(sql, assistantId, version);
      return row === null ? null : VERSIONS.read(row);
    },
    newestAssistantVersion: (assistantId) =>
      count("SELECT max(version) AS n FROM assistant_versions WHERE assistant_id = ?", assistantId),
    insertAssistantVersion: (version) => VERSIONS.insert(db, [version]),
    deleteAssistantVersionsBefore(assistantId, version) {
      db.run("DELETE FROM assistant_versions WHERE assistant_id = ? AND version < ?", assistantId, version);
    },
  };
}

function filterOf(query: AssistantFilter): { readonly where: string; readonly parameters: SQLInputValue[] } {
  const conditions: string[] = [];
  const parameters: SQLInputValue[] = [];
  const add = (condition: string, ...values: SQLInputValue[]): void => {
    conditions.push(condition);
    parameters.push(...values);
  };
  const [graphId, ...others] = query.graphIds;
  if (graphId !== undefined && others.length === 0) add("graph_id = ?", graphId);
  else add("graph_id IN (SELECT value FROM json_each(?))", JSON.stringify(query.graphIds));
  if (query.name !== null) add("name_contains(name, ?)", query.name.toLowerCase());
  addMetadataConditions(add, query);
  return { where: `WHERE ${conditions.join(" AND ")}`, parameters };
}
