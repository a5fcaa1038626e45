// Erasure: canaries in every kind of place, then in no table and in no file. Checked: erase-thread.1, erase-thread.2,
// cold/erasure.1, erase-person.1, erase-rows.2.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { newBrowser, startOpenIdProvider } from "../harness/sign-in/openid-provider.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { findPlaces } from "../harness/storage/find-places.ts";
import { newThread, onlyQuestion, until, type TestThread } from "../harness/threads.ts";

/** A word, so that the search index has it, too. */
const CANARY = "canary7f3ae1";

const STORAGES = [
  ["SQLite", async () => ""],
  ["PostgreSQL", newDatabase],
] as const;

const WITH_TRACES = {
  TRACES: "on",
  HTTP_PORT: "0",
  TRACES_PORT: "0",
  GRPC_PORT: "0",
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
};

/** Set by erasure.sealed.long.test.ts. */
const { HOLDPOINT_ENCRYPTION_KEYS: keys } = process.env;
const SEALED = keys === undefined ? {} : { HOLDPOINT_ENCRYPTION_KEYS: keys, HOLDPOINT_SEARCH: "true" };

async function start(t: TestContext, databaseUri: string, env: Record<string, string> = {}): Promise<ServerHere> {
  const server = await startServerHere({
    env: { DATABASE_URI: databaseUri, ...WITH_TRACES, ...SEALED, ...env },
  });
  assert.equal(
    server.logs.some(({ event }) => event === "encryption_keys"),
    keys !== undefined,
  );
  t.after(async () => {
    await server.stop();
    removeFolder(server.dataDir);
  });
  return server;
}

const expect200 = async (server: ServerHere, method: string, path: string, body?: unknown): Promise<never> => {
  const reply = await call(server, method, path, body);
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
  return reply.body;
};

/** A thread with everything that a thread can leave, answered once and asking again. */
async function fill(server: ServerHere, mark: string): Promise<TestThread> {
  const thread = await newThread(server, "echo", { metadata: { customer: mark } });
  const question = { input: { payload: { question: mark } }, metadata: { run: mark } };
  const { id } = onlyQuestion(await thread.run(question));
  await expect200(server, "POST", `/inbox/${thread.threadId}/${id}/comments`, { text: mark, by: mark });
  await thread.resume({ said: `${mark} ${"long ".repeat(2000)}` });
  await thread.run({ ...question, webhook: `https://nowhere.invalid/${mark}` });
  await thread.resume({ said: mark });
  const cron = { assistant_id: "echo", schedule: "0 0 1 1 *", input: { payload: { question: mark } } };
  await expect200(server, "POST", `${thread.path}/runs/crons`, cron);
  await thread.run(question);
  const item = { namespace: ["threads", thread.threadId], key: mark, value: { text: mark } };
  await expect200(server, "PUT", "/store/items", item);
  await until("the trace of the last run", async () => {
    const found: { readonly items: readonly { readonly input: string | null }[] } = await expect200(
      server,
      "GET",
      `/console/api/traces?thread_id=${thread.threadId}`,
    );
    return found.items.length >= 3 ? true : undefined;
  });
  await expect200(server, "POST", "/threads/search", { q: mark }); // the index has it
  return thread;
}

const erase = (server: ServerHere, { path }: TestThread, dryRun = false) =>
  call(server, "POST", `${path}/erase`, { dry_run: dryRun });

const readPlaces = ({ body }: { readonly body: never }): Readonly<Record<string, number>> =>
  (body as { readonly places: Readonly<Record<string, number>> }).places;

for (const [storage, openDatabase] of STORAGES)
  test(
    `an erased thread is in no table and no file on ${storage} (erase-thread.2, cold/erasure.1)`,
    PATIENCE,
    async (t) => {
      const databaseUri = await openDatabase();
      const server = await start(t, databaseUri);
      const [thread, other] = [await fill(server, CANARY), await fill(server, "another8b2c")];
      const before = await findPlaces(server.dataDir, databaseUri, CANARY);
      const planned = await erase(server, thread, true);
      assert.deepEqual(await findPlaces(server.dataDir, databaseUri, CANARY), before, "a dry run deletes nothing");
      const erased = await erase(server, thread);
      assert.equal(erased.status, 200, erased.text);
      assert.deepEqual(readPlaces(erased), readPlaces(planned));
      const { threads, runs, crons, webhooks, store_items: items, traces = 0, audit = 0 } = readPlaces(erased);
      assert.deepEqual(
        { threads, runs, crons, webhooks, items },
        { threads: 1, runs: 5, crons: 1, webhooks: 1, items: 1 },
      );
      assert.ok(traces >= 3 && audit >= 3, erased.text);
      assert.deepEqual(await findPlaces(server.dataDir, databaseUri, CANARY), []);
      assert.equal((await call(server, "GET", "/audit/verify")).body["intact" as never], true);
      assert.equal((await erase(server, thread)).status, 404);
      assert.equal((await call(server, "GET", other.path)).status, 200, "another thread stays");
      assert.ok(readPlaces(await erase(server, other, true))["traces"]);
    },
  );

test("a repeated erasure deletes what arrived after the thread had gone (erase-thread.1)", PATIENCE, async (t) => {
  const server = await start(t, "");
  const thread = await fill(server, CANARY);
  assert.equal((await call(server, "DELETE", thread.path)).status, 204);
  const { webhooks, store_items: items, traces = 0 } = readPlaces(await erase(server, thread));
  assert.deepEqual({ webhooks, items }, { webhooks: 1, items: 1 });
  assert.ok(traces >= 3);
  assert.deepEqual(await findPlaces(server.dataDir, "", CANARY), []);
});

/** Every identifier of the person has it. */
const PERSON = "zoe4d1c";
const NAME = `${PERSON}@example.com`;
const ADMIN = "the-long-key-of-the-admin";
const ROOT = { "x-api-key": ADMIN };

/** A signed-in person who has done what people do, and a server that names the person wherever it can. */
async function signedIn(t: TestContext, databaseUri: string, env: Record<string, string> = {}): Promise<ServerHere> {
  const provider = await startOpenIdProvider();
  t.after(() => provider.stop());
  const roles = JSON.stringify([{ group: "finance", role: "operator" }]);
  const server = await start(t, databaseUri, {
    ...provider.env,
    HOLDPOINT_API_KEYS: `root:${ADMIN}`,
    HOLDPOINT_ROLES: roles,
    ...env,
  });
  provider.allow(server.url);
  const subject = `${PERSON}-subject-0123456789`;
  provider.accounts.set(subject, { email: NAME, email_verified: true, name: `Zoe ${PERSON}`, groups: ["finance"] });
  const browser = newBrowser();
  await browser.signIn(server.url, subject);
  const send = async (method: string, path: string, body: object): Promise<never> => {
    const headers = { "content-type": "application/json", origin: server.url };
    const reply = await browser.visit(server.url + path, { method, headers, body: JSON.stringify(body) });
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
    return (reply.text === "" ? null : JSON.parse(reply.text)) as never;
  };
  const asRoot = async (method: string, path: string, body: object): Promise<never> => {
    const reply = await call(server, method, path, body, ROOT);
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
    return reply.body;
  };
  const { thread_id: threadId }: { readonly thread_id: string } = await send("POST", "/threads", {
    metadata: { owner: NAME, [NAME]: "key", [NAME.toUpperCase()]: "key" },
  });
  const run = { assistant_id: "echo", input: { payload: { question: `Ask ${NAME}, or Zoe ${PERSON}?` } } };
  const runs = `/threads/${threadId}/runs`;
  const {
    __interrupt__: [asked],
  }: { readonly __interrupt__: readonly [{ readonly id: string }] } = await send("POST", `${runs}/wait`, {
    ...run,
    metadata: { user_id: NAME },
  });
  const item = `/inbox/${threadId}/${asked.id}`;
  await send("POST", `${item}/comments`, { text: `I am ${NAME}.` });
  await asRoot("POST", `${item}/assign`, { to: NAME });
  await send("POST", `${runs}/wait`, { assistant_id: "echo", command: { resume: { said: `by ${NAME}` } } });
  await send("POST", `${runs}/wait`, { ...run, webhook: `https://nowhere.invalid/?u=${encodeURIComponent(NAME)}` });
  await send("POST", "/runs/crons", { ...run, schedule: "0 0 1 1 *", metadata: { made_for: NAME } });
  await send("POST", "/assistants", { graph_id: "echo", name: `Of ${NAME}`, metadata: { owner: NAME, [NAME]: 1 } });
  await send("POST", "/policies", { action: "pay", answer: "approve" });
  const own: { readonly revision: string } = JSON.parse(
    (await browser.visit(`${server.url}/people/me/console`)).text,
  ) as never;
  const views = [{ name: `views of ${PERSON}`, path: "/inbox", search: { by: NAME } }];
  await send("PUT", "/people/me/console", { revision: own.revision, views, seen: [], tab: "" });
  await asRoot("PUT", "/store/items", { namespace: ["people"], key: NAME, value: { likes: "tea" } });
  await asRoot("PUT", "/store/items", { namespace: ["teams"], key: "one", value: { lead: NAME } });
  await asRoot("GET", `/threads/${threadId}`, {}).catch(() => null);
  await until("the traces of the runs", async () => {
    const { body } = await call(server, "GET", `/console/api/traces?thread_id=${threadId}`, undefined, ROOT);
    return (body as { readonly items: readonly object[] }).items.length >= 2 ? true : undefined;
  });
  return server;
}

interface PersonReply {
  readonly pseudonym: string | null;
  readonly places: Readonly<Record<string, number>>;
  readonly next_cursor: string | null;
}

async function erasePerson(server: ServerHere, dryRun: boolean): Promise<PersonReply> {
  const places: Record<string, number> = {};
  let cursor: string | null = null;
  for (;;) {
    const body = { dry_run: dryRun, cursor };
    const reply = await call(server, "POST", `/people/${NAME}/erase`, body, ROOT);
    assert.equal(reply.status, 200, reply.text);
    const page: PersonReply = reply.body;
    for (const [place, count] of Object.entries(page.places)) places[place] = (places[place] ?? 0) + count;
    cursor = page.next_cursor;
    if (cursor === null) return { ...page, places };
  }
}

const PLACES =
  "people sessions threads thread_metadata runs interrupts audit checkpoints crons assistants assistant_versions policies store_items webhooks traces";

for (const [storage, openDatabase] of STORAGES)
  test(
    `an erased person is in no table and no file on ${storage} (erase-person.1, erase-rows.2)`,
    PATIENCE,
    async (t) => {
      const databaseUri = await openDatabase();
      const server = await signedIn(t, databaseUri);
      const before = await findPlaces(server.dataDir, databaseUri, PERSON);
      const planned = await erasePerson(server, true);
      assert.deepEqual(await findPlaces(server.dataDir, databaseUri, PERSON), before, "a dry run changes nothing");
      assert.deepEqual(
        PLACES.split(" ").filter((place) => planned.places[place] === undefined),
        [],
      );
      const limited = { name: "apart", role: "admin", metadata: { tenant: "a" } };
      const { body: made } = await call(server, "POST", "/keys", limited, ROOT);
      const apart = { "x-api-key": (made as { readonly key: string }).key };
      assert.equal((await call(server, "POST", `/people/${NAME}/erase`, {}, apart)).status, 403);
      assert.equal((await call(server, "GET", "/people", undefined, apart)).status, 403);
      const { pseudonym, places } = await erasePerson(server, false);
      assert.deepEqual(places, planned.places);
      assert.deepEqual(await findPlaces(server.dataDir, databaseUri, PERSON), []);
      assert.match(String(pseudonym), /^erased-[0-9a-f]{12}$/);
      const { body: trail } = await call(server, "GET", `/audit?by=${pseudonym}`, undefined, ROOT);
      assert.ok((trail as { readonly items: readonly object[] }).items.length >= 2);
      const { body: report } = await call(server, "GET", "/audit/verify", undefined, ROOT);
      const { intact, erased, faults } = report as {
        readonly intact: boolean;
        readonly erased: number;
        readonly faults: object;
      };
      assert.deepEqual([intact, faults], [true, []]);
      assert.equal(erased, places["audit"]);
      const again = await call(server, "POST", `/people/${NAME}/erase`, {}, ROOT);
      assert.deepEqual([again.status, again.body["code" as never]], [404, "person_not_found"]);
    },
  );
