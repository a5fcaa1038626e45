// Assistants in PostgreSQL: rows, their versions, search.
// Invariants:
//   postgres/assistants.1. A filter's keys and values are bound parameters, never part of the SQL text.
//   postgres/assistants.2. assistant_metadata has exactly the index rows of each assistant's metadata
//        (../../shared/metadata-filter.ts).
//   postgres/assistants.3. A change of an assistant holds its lock, so version numbers have no duplicate.
import type { Assistant, AssistantVersion } from "../../../model/model.ts";
import type { AssistantFilter, AssistantTx } from "../../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { metadataConditions } from "../../shared/metadata-filter.ts";
import { VERSION_COLUMNS } from "../../shared/columns.ts";
import { createConditions, type Conditions } from "./shared/conditions.ts";
import type { Parameter } from "../client/pool.ts";
import { indexRows } from "./metadata-index.ts";
import { table, type SearchedColumns } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";
import { toJsonText } from "../client/text-encoding.ts";

const SEARCHED_COLUMNS: SearchedColumns<AssistantVersion> = { ...VERSION_COLUMNS, metadata: ["metadata", "searched"] };
const VERSIONS = table<AssistantVersion>("assistant_versions", SEARCHED_COLUMNS);

interface AssistantRow extends Assistant {
  /** For a case-insensitive search. */
  readonly nameLower: string;
}
const ASSISTANTS = table<AssistantRow>("assistants", {
  ...SEARCHED_COLUMNS,
  updatedAt: ["updated_at", "plain"],
  nameLower: ["name_lower", "plain"],
});

const BYTES = "octet_length(metadata) + octet_length(config) + octet_length(context)";

const assistantKey = (assistantId: string): string => `assistant ${assistantId}`;

export function assistantVerbs(db: Sql): AssistantTx {
  const count = async (sql: string, ...parameters: Parameter[]): Promise<number> =>
    Number((await db.get(sql, ...parameters))?.["n"] ?? 0);
  return {
    async assistant(assistantId, toChange = false) {
      if (toChange) db.hold(assistantKey(assistantId)); // postgres/assistants.3
      const sql = `SELECT ${ASSISTANTS.columns} FROM holdpoint.assistants WHERE assistant_id = $1`;
      const row = await db.get(sql, assistantId);
      return row === null ? null : readAssistant(row);
    },
    async searchAssistants(query) {
      const search = buildConditions(query);
      const direction = query.descending ? "DESC" : "ASC"; // one clock reading for both, as in the index
      const rows = await db.all(
        `SELECT assistant_id, ${BYTES} AS bytes FROM holdpoint.assistants AS a ${search.where()}
         ORDER BY ${query.sortBy} ${direction}, assistant_id ${direction}
         LIMIT ${search.mark(query.limit)} OFFSET ${search.mark(query.offset)}`,
        ...search.parameters,
      );
      return rows.map((row) => ({ id: String(row["assistant_id"]), bytes: Number(row["bytes"]) }));
    },
    countAssistants(query) {
      const search = buildConditions(query);
      return count(`SELECT count(*) AS n FROM holdpoint.assistants AS a ${search.where()}`, ...search.parameters);
    },
    countAllAssistants: () => count("SELECT count(*) AS n FROM holdpoint.assistants"),
    insertAssistant(assistant) {
      db.hold(assistantKey(assistant.assistantId));
      ASSISTANTS.insert(db, [{ ...assistant, nameLower: assistant.name.toLowerCase() }]);
      indexAssistant(db, assistant.assistantId, assistant.metadata);
    },
    updateAssistant(assistantId, patch) {
      db.hold(assistantKey(assistantId));
      const { name } = patch;
      const named = name === undefined ? {} : { nameLower: name.toLowerCase() };
      ASSISTANTS.patch(db, "assistant_id", assistantId, { ...patch, ...named });
      if (patch.metadata === undefined) return;
      db.run("DELETE FROM holdpoint.assistant_metadata WHERE assistant_id = $1", assistantId);
      indexAssistant(db, assistantId, patch.metadata);
    },
    deleteAssistant(assistantId) {
      db.hold(assistantKey(assistantId));
      for (const name of ["assistant_versions", "assistant_metadata", "assistants"])
        db.run(`DELETE FROM holdpoint.${name} WHERE assistant_id = $1`, assistantId); // postgres/assistants.2
    },
    async assistantVersions(assistantId, { metadata, limit, offset }) {
      const rows = await db.all(
        `SELECT version, ${BYTES} AS bytes FROM holdpoint.assistant_versions
         WHERE assistant_id = $1 AND ($2::text IS NULL OR metadata::jsonb @> $2::jsonb)
         ORDER BY version DESC LIMIT $3 OFFSET $4`,
        assistantId,
        metadata === null ? null : toJsonText(JSON.stringify(metadata)),
        limit,
        offset,
      );
      return rows.map((row) => ({ id: Number(row["version"]), bytes: Number(row["bytes"]) }));
    },
    async assistantVersion(assistantId, version) {
      const sql = `SELECT ${VERSIONS.columns} FROM holdpoint.assistant_versions WHERE assistant_id = $1 AND version = $2`;
      const row = await db.get(sql, assistantId, version);
      return row === null ? null : VERSIONS.read(row);
    },
    newestAssistantVersion(assistantId) {
      db.hold(assistantKey(assistantId)); // postgres/assistants.3
      return count("SELECT max(version) AS n FROM holdpoint.assistant_versions WHERE assistant_id = $1", assistantId);
    },
    insertAssistantVersion: (version) => VERSIONS.insert(db, [version]),
    deleteAssistantVersionsBefore(assistantId, version) {
      db.run("DELETE FROM holdpoint.assistant_versions WHERE assistant_id = $1 AND version < $2", assistantId, version);
    },
  };
}

function readAssistant(row: Parameters<typeof ASSISTANTS.read>[0]): Assistant {
  const { nameLower: _nameLower, ...assistant } = ASSISTANTS.read(row);
  return assistant;
}

/** postgres/assistants.2. */
function indexAssistant(db: Sql, assistantId: string, metadata: JsonObject): void {
  const { keys, texts } = indexRows(metadata);
  if (keys.length === 0) return;
  db.run(
    `INSERT INTO holdpoint.assistant_metadata (key, value, assistant_id)
     SELECT key, value, $1 FROM unnest($2::text[], $3::text[]) AS given (key, value)`,
    assistantId,
    keys,
    texts,
  );
}

function buildConditions(query: AssistantFilter): Conditions {
  const search = createConditions(); // postgres/assistants.1
  const [graphId, ...others] = query.graphIds;
  if (graphId !== undefined && others.length === 0) search.add("graph_id = ?", graphId);
  else search.add("graph_id = ANY(?::text[])", query.graphIds);
  if (query.name !== null) search.add("strpos(name_lower, ?) > 0", query.name.toLowerCase());
  const { indexed, oneOf, rest } = metadataConditions(query.scope, query.metadata);
  for (const { key, text } of indexed) {
    search.add(
      "EXISTS (SELECT 1 FROM holdpoint.assistant_metadata AS m WHERE m.assistant_id = a.assistant_id AND m.key = ? AND m.value = ?)",
      key,
      text,
    );
  }
  for (const { key, texts } of oneOf) {
    // A scope on `assistant_id` means the assistant itself.
    if (key === "assistant_id")
      search.add(
        "a.assistant_id = ANY(?::text[])",
        texts.map((one) => String(JSON.parse(one))),
      );
    else search.add(HAS_ONE_OF, key, texts);
  }
  for (const part of rest) search.add("metadata::jsonb @> ?::jsonb", toJsonText(part));
  return search;
}

const HAS_ONE_OF = `EXISTS (SELECT 1 FROM holdpoint.assistant_metadata AS m
  WHERE m.assistant_id = a.assistant_id AND m.key = ? AND m.value = ANY(?::text[]))`;
