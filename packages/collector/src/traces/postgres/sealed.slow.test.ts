// Tests of the trace store on PostgreSQL with encryption: its own contract, and that of every trace store.
import { systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { openPlainDatabase } from "../../../../server/src/storage/postgres/client/plain-sql.ts";
import { newDatabase } from "../../../../../test/harness/postgres/databases.ts";
import { testSealedTraces } from "../sealed.contract.ts";
import { MIB } from "../store.contract.ts";
import type { TraceStore } from "../store.ts";
import { createSharedTraceStore } from "./store.ts";

const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });

testSealedTraces("PostgreSQL", async (t) => {
  const sql = openPlainDatabase({ uri: await newDatabase(), poolMax: 4, log });
  let store: TraceStore | null = null;
  const close = async (): Promise<void> => store?.stop();
  t.after(async () => {
    await close();
    await sql.close();
  });
  return {
    async open(ring, search = null) {
      const config = { traceBytesMax: 64 * MIB, traceAgeMax: 10 ** 12, search };
      const unclosed = { ...sql, close: async () => undefined };
      store = createSharedTraceStore(async () => unclosed, config, { clock: systemClock, log, ring });
      await store.start();
      return store;
    },
    close,
    async dump() {
      const tables = ["traces", "runs", "attachments", "keys"];
      const texts = tables.map(async (table) => {
        const rows = await sql.all(`SELECT t::text AS row FROM holdpoint_traces.${table} AS t`);
        return rows.map(({ row }) => String(row));
      });
      const files = await sql.all("SELECT encode(bytes, 'escape') AS row FROM holdpoint_traces.attachments");
      return [...(await Promise.all(texts)).flat(), ...files.map(({ row }) => String(row))].join("\n");
    },
    async exec(text) {
      await sql.all(text.replace(/\b(runs|traces|attachments)\b(?= SET| WHERE)/g, "holdpoint_traces.$1"));
    },
  };
});

process.env["HOLDPOINT_ENCRYPTION_KEYS"] = `all:${Buffer.alloc(32, 7).toString("base64")}`;
await import("./store.test.ts");
