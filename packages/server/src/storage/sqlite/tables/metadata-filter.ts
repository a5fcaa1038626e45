// Metadata filter as a SQL function, because SQLite has none for JSON containment.
import { contains, type Json } from "@holdpoint/base/json/json.ts";
import type { Database } from "../client/database.ts";

/** `json_contains(whole, part)`: 1 or 0, by the rules of contains(). */
export function defineMetadataFilter(db: Database): void {
  db.defineFunction("json_contains", (whole, part) =>
    contains(JSON.parse(String(whole)) as Json, JSON.parse(String(part)) as Json) ? 1 : 0,
  );
}
