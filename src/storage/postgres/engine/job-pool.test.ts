// Test of the pool's replacement: engine/queue.8.
import { Client, Pool, type PoolClient } from "pg";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { newDatabase } from "../../../../test/harness/postgres/databases.ts";
import { PATIENCE } from "../../../../test/harness/patience.ts";
import { until } from "../../../../test/harness/faults/fault-server.ts";
import type { Slot } from "../../../agent/ports/ports.ts";
import { systemClock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log/log.ts";
import { JOBS_SCHEMA } from "../schema/graphile-schema.ts";
import { migrateDatabase } from "../schema/migrate.ts";
import { createJobQueue } from "./queue.ts";

const note = (): void => undefined;
const silent: Log = { debug: note, info: note, warning: note, error: note };

/** Two marks are on their way at the same time and fail; a fetch that is held finds nothing after both. */
class Faults {
  marks = true;
  fetches = false;
  marksBegun = 0;
  readonly bothBegan = Promise.withResolvers<void>();
  marksFailed = 0;
  readonly bothFailed = Promise.withResolvers<void>();

  async failMark(): Promise<never> {
    if (++this.marksBegun === 2) this.bothBegan.resolve();
    await this.bothBegan.promise;
    if (++this.marksFailed === 2) this.bothFailed.resolve();
    throw new Error("the connection is gone");
  }

  async findNothing(): Promise<{ readonly rows: readonly unknown[] }> {
    await this.bothFailed.promise;
    await setImmediate(); // graphile-worker has counted both
    return { rows: [] };
  }
}

function faultyPool(connectionString: string, faults: Faults): Pool {
  const pool = new Pool({ connectionString });
  pool.on("connect", (client: PoolClient) => {
    client.on("error", note); // the end of the pool does not wait for its sockets: the drop of the database ends them
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const answer = async (text: string, args: readonly unknown[]): Promise<unknown> => {
      if (faults.marks && text.startsWith("delete from")) return faults.failMark();
      if (faults.fetches && text.includes("skip locked")) return faults.findNothing();
      return query(...args);
    };
    Object.assign(client, {
      query: (...args: readonly unknown[]) => {
        const { text = "" } = (args[0] ?? {}) as { readonly text?: string };
        return text === "" ? query(...args) : answer(text, args);
      },
    });
  });
  return pool;
}

test("a pool that fails to mark jobs twice at once is replaced (engine/queue.8)", PATIENCE, async (t) => {
  const uri = await newDatabase();
  await migrateDatabase(uri, { holdpoint: "1.2.3", library: "1.4.18" });
  const faults = new Faults();
  const pool = faultyPool(uri, faults);
  const client = new Client({ connectionString: uri });
  await client.connect();
  let checked = 0;
  const claim = async () => {
    faults.fetches = ++checked === 2; // the pool waits for this fetch, so its end begins after the second failure
    return true;
  };
  const slot: Slot = { start: note, release: note, claim };
  const queue = createJobQueue({
    pool: () => pool,
    clock: systemClock,
    log: silent,
    onPool: note,
    onQueued: () => undefined,
  });
  t.after(async () => {
    await queue.stop();
    await Promise.all([pool.end(), client.end()]);
  });
  const add = () =>
    client.query(`SELECT ${JOBS_SCHEMA}.add_job('run', json_build_object('thread', gen_random_uuid(), 'due', null))`);

  await queue.start({ reserve: () => slot });
  await add();
  await until("the first job was checked", () => checked === 1);
  await until("its mark is on the way, so the second one is on its own", () => faults.marksBegun === 1);
  await add();
  await faults.bothFailed.promise;
  Object.assign(faults, { marks: false, fetches: false });
  await add();
  await until("the next pool has the third job", () => checked > 2);
});
