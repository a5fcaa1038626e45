// Tests of the pipelined connection: pipelined-connection.1 to pipelined-connection.4, on a real connection that counts
// packets.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Pool, type PoolClient } from "pg";
import { newDatabase } from "../../../../../../test/harness/postgres/databases.ts";
import { startPostgresProxy } from "../../../../../../test/fakes/postgres-proxy.ts";
import { connectionConfig } from "./address.ts";
import type { Parameter } from "./pool.ts";
import { findPipeline } from "./pipelined-connection.ts";

async function open(t: TestContext, more: object = {}, uri = newDatabase()) {
  const pool = new Pool({ ...connectionConfig({ uri: await uri }), max: 1, ...more });
  pool.on("error", () => undefined);
  pool.on("connect", (client) => void client.on("error", () => undefined));
  const client = await pool.connect();
  t.after(async () => {
    client.release(true);
    await pool.end();
  });
  const sent: string[][] = [];
  client.connection.on("readyForQuery", () => void sent.push([]));
  return { client, send: findPipeline(client).send, answered: () => sent.length };
}

const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "done",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

async function namesIn(client: PoolClient): Promise<readonly string[]> {
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT name FROM pg_prepared_statements ORDER BY name",
  );
  return rows.map(({ name }) => name);
}

const VALUES: readonly (readonly [type: string, parameter: Parameter, read: unknown])[] = [
  ["text", "plain", "plain"],
  ["text", "\u0000 \ud800 \u0001", "\u0000 \ud800 \u0001"],
  ["text", "", ""],
  ["text", null, null],
  ["bigint", 9007199254740991, 9007199254740991],
  ["int", -7, -7],
  ["float8", 1.5e-7, 1.5e-7],
  ["boolean", true, true],
  ["boolean", false, false],
  ["bytea", new Uint8Array([0, 1, 255]), Buffer.from([0, 1, 255])],
];

test("every kind of value makes the round trip", async (t) => {
  const { send } = await open(t);
  for (const [type, parameter, read] of VALUES) {
    const { rows } = await send(`SELECT $1::${type} AS value`, [parameter]);
    assert.deepEqual(rows, [{ value: read }], type);
  }
  const texts = ["a", 'b"', "c\\", "{d,}", "", "null", "\u0000"];
  const { rows } = await send("SELECT unnest($1::text[]) AS value", [texts]);
  assert.deepEqual(
    rows.map(({ value }) => value),
    texts,
  );
});

test("statements of one turn share one packet, and each gets its own rows (pipelined-connection.1)", async (t) => {
  const { send, answered } = await open(t);
  const before = answered();
  const all = await Promise.all([
    send("CREATE TEMPORARY TABLE list (at INT)", []),
    send("INSERT INTO list SELECT generate_series(1, $1::int)", [5]),
    send("SELECT at FROM list WHERE at > $1 ORDER BY at", [3]),
    send("UPDATE list SET at = at + 10 WHERE at > $1", [3]),
    send("SELECT at FROM list WHERE at > $1 ORDER BY at", [4]),
    send("DELETE FROM list WHERE at = $1", [99]),
  ]);
  assert.equal(answered() - before, 1);
  assert.deepEqual(
    all.map(({ rows, rowCount }) => [rows.map(({ at }) => at), rowCount]),
    [
      [[], 0],
      [[], 5],
      [[4, 5], 2],
      [[], 2],
      [[14, 15], 2],
      [[], 0],
    ],
  );
});

test("statements sent before the answer arrives go with the next packet (pipelined-connection.1)", async (t) => {
  const { send, answered } = await open(t);
  const before = answered();
  const first = send("SELECT 1 AS one", []);
  await new Promise((resolve) => process.nextTick(resolve));
  const rest = [2, 3, 4].map((value) => send("SELECT $1::int AS value", [value]));
  assert.deepEqual(
    (await Promise.all([first, ...rest])).map(({ rows }) => rows[0]),
    [{ one: 1 }, { value: 2 }, { value: 3 }, { value: 4 }],
  );
  assert.equal(answered() - before, 2);
});

test("a failing statement fails those behind it in its packet, and none before or after (pipelined-connection.2)", async (t) => {
  const { send } = await open(t);
  await send("CREATE TEMPORARY TABLE list (at INT)", []);
  await send("BEGIN", []);
  const piece = [
    send("SELECT 1 AS one", []),
    send("SELECT 1 / $1::int AS never", [0]),
    send("INSERT INTO list VALUES (1)", []),
  ];
  assert.deepEqual(await Promise.all(piece.map(outcome)), ["done", "division by zero", "division by zero"]);
  assert.match(await outcome(send("SELECT 1 AS one", [])), /aborted/);
  await send("ROLLBACK", []);
  assert.deepEqual((await send("SELECT count(*) AS n FROM list", [])).rows, [{ n: 0 }]);
});

test("the connection parses a statement once, and again after its first execution failed (pipelined-connection.3)", async (t) => {
  const { client, send } = await open(t);
  const halved = "SELECT 10 / $1::int AS half_of_it";
  assert.equal(await outcome(send(halved, [0])), "division by zero");
  for (const by of [2, 5, 10]) assert.deepEqual((await send(halved, [by])).rows, [{ half_of_it: 10 / by }]);
  assert.equal(await outcome(send(halved, [0])), "division by zero");
  assert.deepEqual((await send(halved, [1])).rows, [{ half_of_it: 10 }]);
  assert.equal(await outcome(send("SELECT what FROM nowhere", [])), 'relation "nowhere" does not exist');
  await send("CREATE TEMPORARY TABLE nowhere (what INT)", []);
  assert.deepEqual((await send("SELECT what FROM nowhere", [])).rows, []);
  assert.equal((await namesIn(client)).length, 4, "the two of the first statement, the table, and the last");
});

test("a missing answer ends the connection (pipelined-connection.4)", async (t) => {
  const proxy = await startPostgresProxy(await newDatabase());
  t.after(() => proxy.close());
  const { client, send } = await open(t, { query_timeout: 200 }, Promise.resolve(proxy.uri));
  await send("SELECT 1 AS one", []);
  proxy.stall();
  const [late, behind] = [send("SELECT 1 AS one", []), send("SELECT 2 AS two", [])];
  assert.deepEqual(await Promise.all([late, behind].map(outcome)), ["Query read timeout", "Query read timeout"]);
  assert.ok(client.connection.stream.destroyed);
  assert.match(await outcome(send("SELECT 1 AS one", [])), /terminated|not queryable/);
});
