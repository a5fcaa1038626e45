// Tests of storage on PostgreSQL: the port's contract, and that each of its statements has an index (many.test.ts: the rest).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Client } from "pg";
import { beforeDrop, newDatabase } from "../../../test/harness/postgres.ts";
import type { Log } from "../../base/log.ts";
import { storageContract } from "../storage.contract.ts";
import { statementTexts } from "./connections.ts";
import { createPostgresStorage, type PostgresStorage } from "./storage.ts";

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };

/** One database and one storage for the contract: each of its tests finds it empty. */
let shared: Promise<{ readonly storage: PostgresStorage; readonly client: Client }> | null = null;

async function openShared() {
  const uri = await newDatabase();
  const storage = createPostgresStorage({ uri, poolMax: 10, versions: VERSIONS, log: silent });
  await storage.start();
  const client = new Client({ connectionString: uri });
  await client.connect();
  beforeDrop(() => storage.stop());
  beforeDrop(() => client.end());
  return { storage, client };
}

async function emptied(_t: TestContext): Promise<PostgresStorage> {
  shared ??= openShared();
  const { storage, client } = await shared;
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'holdpoint' AND tablename <> 'meta'",
  );
  await client.query(rows.map(({ name }) => `DELETE FROM holdpoint.${name}`).join("; "));
  return storage;
}

storageContract("PostgreSQL", emptied);

/** A part of a plan, as EXPLAIN tells it. */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Tables that are small by a limit of their own, and statements for operators that count everything there is. */
const MAY_BE_READ_WHOLE = new Set([
  "workers",
  "crons",
  "assistants",
  "assistant_versions",
  "webhooks",
  "meta",
  "commits",
]);
/** Indexes of what waits, runs or is due: as small as that, however much has ended. Or read in order up to a limit. */
const IN_ORDER =
  /^(?:threads_(?:created|interrupted|error|busy|expiry|pkey)|runs_(?:pending|delayed|running|one_running|active_thread|pkey)|interrupts_(?:open|due)|events_gone)/;

/** Threads by last change or status, or by a list or object in their metadata: an index would cost each step of a run more. */
const WITHOUT_INDEX = /ORDER BY t\.(?:updated_at|status) |^SELECT count.*threads AS t WHERE t\.metadata::jsonb @>/;

function wholeReads(plan: PlanNode): readonly string[] {
  const table = plan["Relation Name"];
  const index = plan["Index Name"];
  const whole =
    (table !== undefined && !MAY_BE_READ_WHOLE.has(table) && plan["Node Type"] === "Seq Scan") ||
    (index !== undefined &&
      plan["Index Cond"] === undefined &&
      !IN_ORDER.test(index) &&
      !MAY_BE_READ_WHOLE.has(table ?? "crons"));
  const own = whole ? [`${plan["Node Type"]} of ${table ?? index ?? ""}`] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(wholeReads)];
}

test("every statement of the contract reads by an index, whatever its parameters are", async () => {
  const { client } = await (shared ??= openShared());
  await client.query("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan"); // only where there is no other way
  const texts = statementTexts().filter((text) => !WITHOUT_INDEX.test(text));
  assert.ok(texts.length > 100);
  const found: string[] = [];
  for (const [at, text] of texts.entries()) {
    await client.query(`PREPARE explained_${at} AS ${text}`);
    const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, digits]) => Number(digits)));
    const parameters = count === 0 ? "" : `(${Array.from({ length: count }, () => "NULL").join(", ")})`;
    const { rows } = await client.query<{ readonly "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE explained_${at}${parameters}`,
    );
    const [plan] = rows[0]?.["QUERY PLAN"] ?? [];
    assert.ok(plan);
    const reads = wholeReads(plan.Plan);
    if (reads.length > 0) found.push(`${reads.join(", ")}:\n${text}`);
  }
  assert.deepEqual(found, []);
});
