// In whose name the runs of a cron are, and whether they may still start.
//   cron-callers.1. Whoever changes a cron takes it over: its runs have that name, permissions and reach from then on.
//     Only a change that does nothing but disable it leaves it as it is.
//   cron-callers.2. Taking over needs the rights of making the cron as it is afterwards.
//   cron-callers.3. The cron of a key or a person that is gone starts nothing: the server disables it and says why.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { type Answer, call, removeFolder, ROOT } from "../harness/server.ts";
import { readProblem, followLog } from "../harness/threads.ts";

const KEYS = { root: "key-of-the-root-9d1f", ann: "key-of-ann-5b27-01", mallory: "key-of-mallory-c3e8" };
const NEVER_HERE = "0 0 1 1 *";
const EVERY_SECOND = "* * * * * *";

const graphs = (...path: readonly string[]): string => join(ROOT, "test", "graphs", ...path);
const server = await startServerHere({
  config: graphs("tenants", "keys.json"),
  env: { HOLDPOINT_API_KEYS: `root:${KEYS.root},ann:${KEYS.ann}:operator,mallory:${KEYS.mallory}:operator` },
});
const handlers = await startServerHere({ config: graphs("rights", "langgraph.json") });
after(async () => {
  for (const one of [server, handlers]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
});

const withKey = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  call(server, method, path, body, { "x-api-key": key });
const asMallory = (method: string, path: string, body?: unknown) => withKey(KEYS.mallory, method, path, body);

/** @returns its path */
async function newCron(key: string, more: object, threadId?: string): Promise<string> {
  const cron = { assistant_id: "whoami", schedule: NEVER_HERE, input: {}, ...more };
  const made = await withKey(key, "POST", `${threadId === undefined ? "" : `/threads/${threadId}`}/runs/crons`, cron);
  assert.equal(made.status, 200, made.text);
  return `/runs/crons/${String(made.body["cron_id"])}`;
}

suite("a change by another caller (cron-callers.1)", PATIENCE, () => {
  for (const [change, owner] of [
    [{ input: { x: 1 } }, "mallory"],
    [{ schedule: "0 0 2 1 *" }, "mallory"],
    [{ timezone: "Asia/Tokyo" }, "mallory"],
    [{ metadata: { x: 1 } }, "mallory"],
    [{ on_run_completed: "keep" }, "mallory"],
    [{ enabled: true }, "mallory"],
    [{ enabled: false, schedule: "0 0 2 1 *" }, "mallory"],
    [{ enabled: false }, "root"],
  ] as const)
    test(`${JSON.stringify(change)} leaves it to ${owner}`, async () => {
      const path = await newCron(KEYS.root, { enabled: false });
      const changed = await asMallory("PATCH", path, change);
      assert.deepEqual([changed.status, changed.body["user_id"]], [200, owner], changed.text);
      assert.equal((await withKey(KEYS.root, "GET", path)).body["user_id"], owner);
    });

  test("its runs have the name and the permissions of the caller who changed it", async () => {
    const path = await newCron(KEYS.root, { on_run_completed: "keep" });
    await asMallory("PATCH", path, { schedule: EVERY_SECOND, input: {} });
    const cronId = path.split("/").at(-1);
    const configurable = await followLog(server, "a run of it", async () => {
      const { body } = await asMallory("POST", "/threads/search", { metadata: { cron_id: cronId } });
      const [first] = body as unknown as readonly { readonly values: { readonly before?: Seen } | null }[];
      return first?.values?.before?.configurable;
    });
    await asMallory("DELETE", path);
    assert.equal(configurable["langgraph_auth_user_id"], "mallory");
    assert.deepEqual(configurable["langgraph_auth_permissions"], ["read", "write", "operator"]);
  });
});

interface Seen {
  readonly configurable: Readonly<Record<string, unknown>>;
}

suite("taking over (cron-callers.2)", PATIENCE, () => {
  const as = (who: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    call(handlers, method, path, body, { authorization: `Bearer ${who}` });
  const plain = { assistant_id: "echo", schedule: NEVER_HERE, input: {} };
  const prod = { config: { configurable: { db: "prod" } } };
  const off = { interrupt_before: [] };

  for (const { name, has, change } of [
    { name: "a config that the handler of runs refuses", has: {}, change: prod },
    { name: "the schedule of a cron with such a config", has: prod, change: { schedule: "0 0 2 1 *" } },
    { name: "the input of a cron that switches breakpoints off", has: off, change: { input: { visited: [] } } },
  ])
    test(`${name} is forbidden, and changes nothing`, async () => {
      const body = { ...plain, assistant_id: has === off ? "compiled" : "echo", ...has };
      const made = await as("admin", "POST", "/runs/crons", body);
      const path = `/runs/crons/${String(made.body["cron_id"])}`;
      const refused = await as("mal", "PATCH", path, change);
      assert.deepEqual([refused.status, readProblem(refused).code], [403, "forbidden"], refused.text);
      assert.deepEqual((await as("mal", "GET", path)).body, made.body);
      assert.equal((await as("mal", "PATCH", path, { enabled: false })).status, 200, "it can be stopped");
    });

  test("a cron on a thread out of reach is not found", async () => {
    const limited = { name: "limited", role: "operator", metadata: { org: "a" } };
    const { key } = (await withKey(KEYS.root, "POST", "/keys", limited)).body as { readonly key: string };
    const thread = (await withKey(KEYS.root, "POST", "/threads", {})).body;
    const path = await newCron(KEYS.root, { metadata: { org: "a" } }, String(thread["thread_id"]));
    const refused = await withKey(key, "PATCH", path, { input: { x: 1 } });
    assert.deepEqual([refused.status, readProblem(refused).code], [404, "thread_not_found"], refused.text);
  });
});

test("the cron of a revoked key is disabled until somebody takes it over (cron-callers.3)", PATIENCE, async () => {
  const made = await withKey(KEYS.root, "POST", "/keys", { name: "leaver", role: "operator" });
  const { key, key_id: keyId } = made.body as { readonly key: string; readonly key_id: string };
  const ticking = await newCron(key, { schedule: EVERY_SECOND, on_run_completed: "keep" });
  await withKey(KEYS.root, "DELETE", `/keys/${keyId}`);
  const disabled = await followLog(server, "the server disables it", async () => {
    const { body } = await asMallory("GET", ticking);
    return body["enabled"] === false ? { reason: body["disabled_reason"], due: body["next_run_date"] } : undefined;
  });
  assert.deepEqual(disabled, { reason: "caller_gone", due: null });
  const acts = await withKey(KEYS.root, "GET", "/audit?kind=act&action=cron_disabled");
  assert.match(acts.text, /"reason":"caller_gone"/);
  const taken = await asMallory("PATCH", ticking, { enabled: true });
  assert.deepEqual([taken.body["user_id"], taken.body["disabled_reason"]], ["mallory", null]);
  await asMallory("DELETE", ticking);
});

test("a key of the same name with other limits is another caller (cron-callers.3)", PATIENCE, async () => {
  const make = async (more: object) =>
    (await withKey(KEYS.root, "POST", "/keys", { name: "ci", role: "operator", ...more })).body;
  const { key, key_id: keyId } = await make({});
  await make({ metadata: { region: "emea" } });
  const ticking = await newCron(String(key), { schedule: EVERY_SECOND, on_run_completed: "keep" });
  await withKey(KEYS.root, "DELETE", `/keys/${String(keyId)}`);
  const reason = await followLog(server, "the server disables it", async () => {
    const { body } = await asMallory("GET", ticking);
    return body["enabled"] === false ? body["disabled_reason"] : undefined;
  });
  assert.equal(reason, "caller_gone");
});
