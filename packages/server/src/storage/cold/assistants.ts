// Assistants: rows, their versions, search.
// Invariants:
//   cold/assistants.1. assistant_metadata has exactly the index rows of each assistant's metadata
//        (../shared/metadata-filter.ts).
//   - A change of an assistant holds its lock, so version numbers have no duplicate.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Assistant, AssistantVersion } from "../../model/model.ts";
import type { AssistantFilter, AssistantTx } from "../../ports/ports.ts";
import { VERSION_COLUMNS } from "../shared/columns.ts";
import { indexText, metadataConditions } from "../shared/metadata-filter.ts";
import { type ColdSql, type ColdTable, coldTable, readNumber } from "./cold-sql.ts";
import { type Conditions, createConditions, listSized } from "./conditions.ts";

interface AssistantRow extends Assistant {
  /** For a case-insensitive search. */
  readonly nameLower: string;
}

const SIZED = ["metadata", "config", "context"];

interface Tables {
  readonly assistants: ColdTable<AssistantRow>;
  readonly versions: ColdTable<AssistantVersion>;
}

export function assistantVerbs(sql: ColdSql): AssistantTx {
  const columns = { ...VERSION_COLUMNS, metadata: ["metadata", "searched"] } as const;
  const assistants = coldTable<AssistantRow>(sql, "assistants", {
    ...columns,
    updatedAt: ["updated_at", "plain"],
    nameLower: ["name_lower", "plain"],
  });
  const tables = { assistants, versions: coldTable<AssistantVersion>(sql, "assistant_versions", columns) };
  return { ...currentVerbs(sql, tables), ...versionVerbs(sql, tables) };
}

type VersionVerbs = Pick<
  AssistantTx,
  | "assistantVersions"
  | "assistantVersion"
  | "newestAssistantVersion"
  | "insertAssistantVersion"
  | "deleteAssistantVersionsBefore"
>;

function currentVerbs(sql: ColdSql, { assistants }: Tables): Omit<AssistantTx, keyof VersionVerbs> {
  const { schema } = sql;
  return {
    async assistant(assistantId, toChange = false) {
      if (toChange) hold(sql, assistantId);
      const row = await sql.get(`${assistants.select} WHERE assistant_id = ?`, assistantId);
      if (row === null) return null;
      const { nameLower: _nameLower, ...assistant } = assistants.read(row);
      return assistant;
    },
    searchAssistants(query) {
      const { sortBy, descending, limit, offset } = query;
      const direction = descending ? "DESC" : "ASC"; // one clock reading for both, as in the index
      const order = `${sortBy} ${direction}, assistant_id ${direction}`;
      const page = { table: "assistants", id: "assistant_id", sized: SIZED, order, limit, offset };
      return listSized<string>(sql, page, buildConditions(sql, query));
    },
    countAssistants(query) {
      const { where, values } = buildConditions(sql, query);
      return readNumber(sql, `SELECT count(*) AS n FROM ${schema}assistants ${where()}`, ...values);
    },
    countAllAssistants: () => readNumber(sql, `SELECT count(*) AS n FROM ${schema}assistants`),
    insertAssistant(assistant) {
      hold(sql, assistant.assistantId);
      assistants.insert({ ...assistant, nameLower: assistant.name.toLowerCase() });
      index(sql, assistant.assistantId, assistant.metadata);
    },
    updateAssistant(assistantId, patch) {
      hold(sql, assistantId);
      const { name, metadata } = patch;
      const named = name === undefined ? {} : { nameLower: name.toLowerCase() };
      assistants.patch("assistant_id", assistantId, { ...patch, ...named });
      if (metadata === undefined) return;
      sql.run(`DELETE FROM ${schema}assistant_metadata WHERE assistant_id = ?`, assistantId);
      index(sql, assistantId, metadata);
    },
    deleteAssistant(assistantId) {
      hold(sql, assistantId);
      for (const name of ["assistant_versions", "assistant_metadata", "assistants"])
        sql.run(`DELETE FROM ${schema}${name} WHERE assistant_id = ?`, assistantId);
    },
  };
}

function versionVerbs(sql: ColdSql, { versions }: Tables): VersionVerbs {
  const { schema } = sql;
  return {
    assistantVersions(assistantId, { metadata, limit, offset }) {
      const conditions = createConditions();
      conditions.add("assistant_id = ?", assistantId);
      if (metadata !== null) addParts(sql, conditions, [JSON.stringify(metadata)]);
      const page = { table: "assistant_versions", id: "version", sized: SIZED, order: "version DESC", limit, offset };
      return listSized<number>(sql, page, conditions);
    },
    async assistantVersion(assistantId, version) {
      const where = "WHERE assistant_id = ? AND version = ?";
      return versions.readOrNull(await sql.get(`${versions.select} ${where}`, assistantId, version));
    },
    newestAssistantVersion(assistantId) {
      hold(sql, assistantId);
      const newest = `SELECT max(version) AS n FROM ${schema}assistant_versions WHERE assistant_id = ?`;
      return readNumber(sql, newest, assistantId);
    },
    insertAssistantVersion: (version) => versions.insert(version),
    deleteAssistantVersionsBefore(assistantId, version) {
      const older = "WHERE assistant_id = ? AND version < ?";
      sql.run(`DELETE FROM ${schema}assistant_versions ${older}`, assistantId, version);
    },
  };
}

const hold = (sql: ColdSql, assistantId: string): void => sql.hold(`assistant ${assistantId}`);

/** cold/assistants.1. */
function index(sql: ColdSql, assistantId: string, metadata: JsonObject): void {
  for (const [key, value] of Object.entries(metadata)) {
    const text = indexText(value);
    if (text === null) continue;
    const row = "(key, value, assistant_id) VALUES (?, ?, ?)";
    sql.run(`INSERT INTO ${sql.schema}assistant_metadata ${row}`, key, text, assistantId);
  }
}

function buildConditions(sql: ColdSql, query: AssistantFilter): Conditions {
  const conditions = createConditions();
  const [graphId, ...others] = query.graphIds;
  if (graphId !== undefined && others.length === 0) conditions.add("graph_id = ?", graphId);
  // No column alone: nearly all rows match, so the database reads in order.
  else conditions.add(sql.isOneOf("coalesce(graph_id, '')"), query.graphIds);
  if (query.name !== null) conditions.add(sql.includesText("name_lower"), query.name.toLowerCase());
  const member = (condition: string): string =>
    `assistant_id IN (SELECT assistant_id FROM ${sql.schema}assistant_metadata WHERE key = ? AND ${condition})`;
  const { indexed, oneOf, rest } = metadataConditions(query.scope, query.metadata);
  for (const { key, text } of indexed) conditions.add(member("value = ?"), key, text);
  for (const { key, texts } of oneOf) {
    // A scope on `assistant_id` means the assistant itself.
    if (key !== "assistant_id") conditions.add(member(sql.isOneOf("value")), key, texts);
    else
      conditions.add(
        sql.isOneOf("assistant_id"),
        texts.map((text) => String(JSON.parse(text))),
      );
  }
  addParts(sql, conditions, rest);
  return conditions;
}

/** @param parts JSON that the metadata contains */
function addParts(sql: ColdSql, conditions: Conditions, parts: readonly string[]): void {
  for (const part of parts) conditions.add(sql.containsOneOf("metadata"), [sql.toSearched(part)]);
}
