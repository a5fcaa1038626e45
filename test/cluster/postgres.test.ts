// Tests of a server on PostgreSQL: people and clients see the same as on one machine.
//   postgres.1. An interrupt opens, is listed, takes one answer, and survives a restart; no data folder appears.
//   postgres.2. Servers that start together on an empty database all come up; an older server rejects a newer database
//   by name.
//   postgres.3. `migrate` migrates the database and says so; without a database it names the setting.
//   postgres.4. Without a connection, calls are 503 with Retry-After, and work again when there is one.
//   postgres.5. A server that cannot open its port exits with 1 and the reason, although it has begun to poll for runs.
import { Client as Sdk } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { Client } from "pg";
import { PATIENCE } from "../harness/patience.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import type { Result } from "../harness/threads.ts";

const uri = await newDatabase();
const dataDir = join(temporaryFolder(), "none");
const start = (env: Readonly<Record<string, string>> = {}): Promise<ServerHere> =>
  startServerHere({ dataDir, env: { DATABASE_URI: uri, ...env } });

let server = await start();
beforeDrop(async () => void (await server.stop()));
after(() => removeFolder(join(dataDir, "..")));
const sdk = (): Sdk => new Sdk({ apiUrl: server.url, apiKey: null, callerOptions: { maxRetries: 0 } });

async function sql(text: string, on = uri): Promise<void> {
  const client = new Client({ connectionString: on });
  await client.connect();
  await client.query(text);
  await client.end();
}

test("an interrupt opens, survives a restart, and takes one answer (postgres.1)", async () => {
  const { thread_id: id } = await sdk().threads.create({ metadata: { owner: "ann" } });
  const paused = (await sdk().runs.wait(id, "agent", { input: { some_text: "original text" } })) as Result;
  const question = paused.__interrupt__?.[0];
  assert.deepEqual(question?.value, { text_to_revise: "original text" });
  assert.equal(await server.stop(), 0);
  server = await start();
  const thread = await sdk().threads.get(id);
  assert.equal(thread.status, "interrupted");
  assert.equal(Object.values(thread.interrupts).flat()[0]?.id, question.id);
  const inbox = await call(server, "GET", "/inbox");
  assert.deepEqual(
    (inbox.body as { readonly items: readonly { readonly id: string }[] }).items.map((item) => item.id),
    [question.id],
  );
  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, () => sdk().runs.wait(id, "agent", { command: { resume: "Edited text" } })),
  );
  const won = answers.filter((answer) => answer.status === "fulfilled").map(({ value }) => value);
  assert.deepEqual(won, [{ some_text: "Edited text" }]);
  for (const answer of answers) if (answer.status === "rejected") assert.match(String(answer.reason), /409/);
  assert.equal((await sdk().threads.search({ metadata: { owner: "ann" } })).length, 1);
  assert.equal((await sdk().threads.getHistory(id)).length, 3);
  const events: string[] = [];
  for await (const { event } of sdk().runs.stream(id, "agent", { input: { some_text: "x" }, streamMode: ["updates"] }))
    events.push(event);
  assert.deepEqual(events, ["metadata", "updates"]);
  assert.ok(!existsSync(dataDir));
});

const main = [join(ROOT, "packages/holdpoint/src/main.ts")];
const run = async (verb: string, env: Readonly<Record<string, string>>, signal?: AbortSignal) =>
  promisify(execFile)(process.execPath, [...main, verb, "--config", join(ROOT, "test/graphs/langgraph.json")], {
    env: { ...process.env, DATABASE_URI: "", DATABASE_URL: "", PORT: "0", ...env },
    ...(signal === undefined ? {} : { signal }),
  }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    (error: { readonly code: number; readonly stderr: string }) => ({ code: error.code, said: error.stderr }),
  );

test("migrate brings a database up to date, from several places at once; a newer one is refused by name (postgres.2, postgres.3)", async () => {
  const fresh = await newDatabase();
  const said = await Promise.all([1, 2].map(() => run("migrate", { DATABASE_URL: fresh })));
  assert.deepEqual(
    said.map(({ code }) => code),
    [0, 0],
  );
  const [first = "", second = ""] = said.map((one) => one.said).toSorted();
  assert.match(first, /^Migrated the schema from 0 to \d+\.\n$/);
  assert.match(second, /^The schema is already at \d+\.\n$/);
  await sql("UPDATE holdpoint.meta SET value = '999' WHERE key = 'schema'", fresh);
  const refused = await run("serve", { DATABASE_URI: fresh });
  assert.equal(refused.code, 78, refused.said);
  assert.match(refused.said, /the database was written by Holdpoint \S+: start that version or a newer one/);
});

test("an error about the URL explains it in words, without the password (postgres.3)", async () => {
  const [without, away] = await Promise.all([
    run("migrate", {}),
    run("serve", { DATABASE_URI: "postgres://ann:secret@127.0.0.1:1/x" }),
  ]);
  assert.equal(without.code, 78);
  assert.match(without.said, /DATABASE_URI: is not set/);
  assert.equal(away.code, 1);
  assert.match(away.said, /PostgreSQL at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/);
  assert.doesNotMatch(away.said, /secret/);
});

test("a port in use is an error, and nothing keeps the process alive (postgres.5)", PATIENCE, async ({ signal }) => {
  const { code, said } = await run("serve", { DATABASE_URI: uri, PORT: new URL(server.url).port }, signal);
  assert.equal(code, 1, said);
  assert.match(said, /port \d+ on 127\.0\.0\.1 is in use by another process/);
});

test("a call that gets no connection is 503 with Retry-After; the next that gets one works (postgres.4)", async () => {
  const { thread_id: id } = await sdk().threads.create();
  const name = new URL(uri).pathname.slice(1);
  const admin = new URL(uri);
  admin.pathname = "/postgres";
  await sql(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`, admin.href);
  await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`, admin.href);
  const refused = await call(server, "GET", `/threads/${id}`);
  await sql(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`, admin.href);
  assert.equal(refused.status, 503, refused.text);
  assert.equal((refused.body as { readonly code: string }).code, "storage_unavailable");
  assert.equal(refused.headers.get("retry-after"), "1");
  assert.equal((await call(server, "GET", `/threads/${id}`)).status, 200);
});
