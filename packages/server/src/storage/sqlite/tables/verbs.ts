// Verbs: all operations of the storage port on one connection.
import type { Tx } from "../../../ports/ports.ts";
import { coldVerbs } from "../../cold/cold-verbs.ts";
import { createColdSql } from "../client/cold-sql.ts";
import type { Database } from "../client/database.ts";
import { auditVerbs } from "./audit.ts";
import { checkpointVerbs } from "./checkpoints.ts";
import { copyVerbs } from "./copies.ts";
import { eventVerbs } from "./events.ts";
import { interruptVerbs } from "./interrupts.ts";
import { runVerbs } from "./runs.ts";
import { storeVerbs } from "./store.ts";
import { threadVerbs } from "./threads.ts";
import { createPendingRuns } from "./pending-runs.ts";
import { type Json, contains } from "@holdpoint/base/json/json.ts";

export function createVerbs(db: Database): Tx {
  defineMetadataFilter(db);
  const pending = createPendingRuns(db);
  return {
    ...threadVerbs(db, pending),
    ...copyVerbs(db),
    ...runVerbs(db, pending),
    ...interruptVerbs(db),
    ...auditVerbs(db),
    ...checkpointVerbs(db),
    ...eventVerbs(db),
    ...storeVerbs(db),
    ...coldVerbs(createColdSql(db)),
  };
}

// Metadata filter as a SQL function, because SQLite has none for JSON containment.

/** `json_contains(whole, part)`: 1 or 0, by the rules of contains(). */
export function defineMetadataFilter(db: Database): void {
  db.defineFunction("json_contains", (whole, part) =>
    contains(JSON.parse(String(whole)) as Json, JSON.parse(String(part)) as Json) ? 1 : 0,
  );
}
