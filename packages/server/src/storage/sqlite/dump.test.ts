// Tests of dumps of a SQLite storage: the contract.
import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "@holdpoint/base/log/log.ts";
import { dumpContract } from "../contract/dump.contract.ts";
import { createSqliteStorage } from "./storage.ts";

const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
const COLUMNS = `SELECT t.name || '.' || c.name AS place FROM sqlite_master AS t, pragma_table_info(t.name) AS c
  WHERE t.type = 'table' AND t.name NOT IN ('meta', 'sqlite_sequence') AND t.name NOT GLOB 'search_*' AND place <> 'runs.worker_id'`;

dumpContract("SQLite", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-dump-"));
  const versions = { holdpoint: "0.0.0", library: "1.4.18" };
  const storage = createSqliteStorage({ folder, owner: "test", versions, log });
  await storage.start();
  t.after(async () => {
    await storage.stop();
    rmSync(folder, { recursive: true });
  });
  const stored = (): readonly string[] => {
    const db = new DatabaseSync(join(folder, "holdpoint.db"), { readOnly: true });
    const places = db
      .prepare(COLUMNS)
      .all()
      .map(({ place }) => String(place));
    db.close();
    return places;
  };
  return { storage, stored: () => Promise.resolve(stored()) };
});
