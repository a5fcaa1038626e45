// Tests of what an address says beyond the host.
//   database-address.1. A password command gives each new connection its password: after the old one has expired, the
//        server connects with the new one.
//   database-address.2. A command that fails, hangs or prints nothing is named, without what it printed.
//   database-address.3. A statement beyond the limit of the address is 503, and nothing of its call is stored.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { Client } from "pg";
import { only, questionsIn, until } from "../harness/faults/fault-server.ts";
import { startPostgres } from "../harness/postgres/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { type Answer, call, removeFolder, temporaryFolder } from "../harness/server.ts";

const folder = temporaryFolder();
after(() => removeFolder(folder));
const postgres = await startPostgres();
const admin = new Client({ connectionString: postgres.uri });
await admin.connect();
after(async () => {
  await admin.end();
  await postgres.stop();
});

async function start(t: TestContext, env: Readonly<Record<string, string>>): Promise<ServerHere> {
  const server = await startServerHere({ dataDir: join(folder, "none"), env });
  t.after(() => server.stop());
  return server;
}

/** A command that runs this code. */
function writeCommand(name: string, code: string): string {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, code);
  return `${process.execPath} ${file}`;
}

const tokenFile = join(folder, "token");
const print = writeCommand(
  "print",
  `import { readFileSync } from "node:fs"; console.log(readFileSync(${JSON.stringify(tokenFile)}, "utf8"));`,
);

async function setToken(token: string): Promise<void> {
  await admin.query(`ALTER ROLE tokened PASSWORD '${token}'`);
  writeFileSync(tokenFile, token);
}

/** The role exists, and has to give its password. @returns its address */
async function addRole(): Promise<string> {
  await admin.query("CREATE ROLE tokened LOGIN");
  await admin.query("CREATE DATABASE tokened OWNER tokened");
  const { rows } = await admin.query<{ readonly hba_file: string }>("SHOW hba_file");
  const file = rows[0]?.hba_file ?? "";
  writeFileSync(file, `host all tokened 127.0.0.1/32 scram-sha-256\n${readFileSync(file, "utf8")}`);
  await admin.query("SELECT pg_reload_conf()");
  const uri = new URL(postgres.uri);
  [uri.username, uri.pathname] = ["tokened", "/tokened"];
  return uri.href;
}
const tokened = await addRole();

test("a server whose password has expired connects with the next one (database-address.1)", async (t) => {
  await setToken("first");
  const server = await start(t, { DATABASE_URI: tokened, DATABASE_PASSWORD_COMMAND: print });
  const { thread_id: thread } = (await call(server, "POST", "/threads", {})).body as { readonly thread_id: string };
  const path = `/threads/${thread}/runs/wait`;
  const paused = await call(server, "POST", path, { assistant_id: "agent", input: { some_text: "x" } });
  only(questionsIn(paused.body), paused.text);
  await setToken("second");
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tokened'");
  const body = { assistant_id: "agent", command: { resume: "y" } };
  let answered: Answer | null = null;
  await until("an answer is accepted", async () => {
    answered = await call(server, "POST", path, body);
    return answered.status !== 503; // of a connection that was ending: nothing was written
  });
  assert.deepEqual((answered as Answer | null)?.body, { some_text: "y" });
  assert.doesNotMatch(server.output(), /first|second/);
});

const FAILURES: readonly (readonly [what: string, command: string, reason: RegExp])[] = [
  [
    "fails",
    writeCommand("fail", 'console.log("s3cr3t"); process.exitCode = 3;'),
    /DATABASE_PASSWORD_COMMAND failed \(3\)/,
  ],
  ["does not exist", join(folder, "missing"), /DATABASE_PASSWORD_COMMAND failed \(ENOENT\)/],
  ["hangs", writeCommand("hang", 'console.log("s3cr3t"); setInterval(() => 0, 1000);'), /took longer than 4000 ms/],
  ["prints nothing", writeCommand("nothing", ""), /DATABASE_PASSWORD_COMMAND printed nothing/],
  ["prints another password", writeCommand("wrong", 'console.log("s3cr3t");'), /password authentication failed/],
];

for (const [what, command, reason] of FAILURES) {
  test(`a password command that ${what} is named at the start (database-address.2)`, async (t) => {
    await assert.rejects(start(t, { DATABASE_URI: tokened, DATABASE_PASSWORD_COMMAND: command }), (error: Error) => {
      assert.match(error.message, reason);
      assert.doesNotMatch(error.message, /s3cr3t/);
      return true;
    });
  });
}

for (const query of ["statement_timeout=300", "options=-c%20statement_timeout%3D300ms"]) {
  test(`?${query}: a statement beyond it is 503, and nothing is stored (database-address.3)`, async (t) => {
    const server = await start(t, { DATABASE_URI: `${postgres.uri}?${query}` });
    const { thread_id: thread } = (await call(server, "POST", "/threads", {})).body as { readonly thread_id: string };
    const run = () =>
      call(server, "POST", `/threads/${thread}/runs/wait`, { assistant_id: "agent", input: { some_text: "x" } });
    const lock = `(hashtextextended('thread ${thread}', 0))`;
    await admin.query(`SELECT pg_advisory_lock${lock}`);
    const refused = await run();
    assert.equal(refused.status, 503, refused.text);
    assert.match(
      refused.text,
      /Nothing was written: canceling statement due to statement timeout.*storage_unavailable/,
    );
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.deepEqual((await call(server, "GET", `/threads/${thread}/runs`)).body, []);
    await admin.query(`SELECT pg_advisory_unlock${lock}`);
    assert.equal((await run()).status, 200);
  });
}
