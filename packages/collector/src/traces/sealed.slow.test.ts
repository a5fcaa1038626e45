// Tests of the trace store on SQLite with encryption: its own contract, and that of every trace store.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { testSealedTraces } from "./sealed.contract.ts";
import { MIB } from "./store.contract.ts";
import { createTraceStore, type TraceStore } from "./store.ts";

const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });

testSealedTraces("SQLite", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-sealed-traces-"));
  let store: TraceStore | null = null;
  const close = async (): Promise<void> => store?.stop();
  t.after(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });
  return {
    async open(ring, search = null) {
      const config = { traceBytesMax: 64 * MIB, traceAgeMax: 10 ** 12, search };
      store = createTraceStore(folder, config, { clock: systemClock, log, ring });
      await store.start();
      return store;
    },
    close,
    dump: async () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), "latin1"))
        .join("\n"),
    async exec(sql) {
      const db = new DatabaseSync(join(folder, "traces.db"));
      db.exec(sql);
      db.close();
    },
  };
});

process.env["HOLDPOINT_ENCRYPTION_KEYS"] = `all:${Buffer.alloc(32, 7).toString("base64")}`;
await import("./store.test.ts");
