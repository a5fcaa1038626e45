// The embedded storage alone, for tests of the storage: in a folder of its own, deleted with the test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createSqliteStorage, type SqliteStorage } from "@holdpoint/server/storage/sqlite/storage.ts";

const note = (): void => undefined;
export const SILENT: Log = { debug: note, info: note, warning: note, error: note };

/** @param beforeStop ends the services that use the storage */
export async function openStorage(
  t: TestContext,
  beforeStop: () => Promise<unknown> = () => Promise.resolve(),
): Promise<SqliteStorage> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-storage-"));
  const versions = { holdpoint: "1.0.0", library: "1.4.18" };
  const storage = createSqliteStorage({ folder, owner: "this test", versions, log: SILENT });
  await storage.start();
  t.after(async () => {
    await beforeStop();
    await storage.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return storage;
}
