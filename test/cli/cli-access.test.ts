// The verbs about access: keys of programs, people. Checked:
//   cli-access.1. A created key is printed once; it works with its role and limits, and no longer after its revocation.
//   cli-access.2. Only an administrator may use the verbs, and only on a server with roles.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { verb, type Ended } from "../harness/cli.ts";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

const ADMIN = "key-of-the-admin-91c4";
let server: ServerHere;
let open: ServerHere;
before(async () => {
  server = await startServerHere({ env: { HOLDPOINT_API_KEYS: `root:${ADMIN}` } });
  open = await startServerHere();
});
after(async () => {
  for (const one of [server, open]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
});

const run = (args: readonly string[], key = ADMIN, on = server): Promise<Ended> =>
  verb(args, { env: { HOLDPOINT_URL: on.url, HOLDPOINT_API_KEY: key } });

const readStatus = async (method: string, path: string, key: string, body?: unknown): Promise<number> =>
  (await call(server, method, path, body, { authorization: `Bearer ${key}` })).status;

test("a key is printed once, works with its role, is listed without itself, and ends with its revocation (cli-access.1)", async () => {
  const created = await run(["keys", "create", "robot", "--role", "reviewer", "--expires", "90d"]);
  assert.equal(created.code, 0, created.err);
  const key = created.out.trim();
  assert.match(key, /^hp_[\w-]{43}$/);
  assert.match(
    created.err,
    /^created {2}[0-9a-f]{8}-[0-9a-f]{4} {2}robot \(reviewer\), expires: 20\d\d-[^]*nothing can show it/,
  );
  assert.equal(await readStatus("GET", "/inbox", key), 200);
  assert.equal(await readStatus("POST", "/threads", key, {}), 403);
  const caller = await call(server, "GET", "/console/api/caller", undefined, { "x-api-key": key });
  assert.match(caller.text, /"name":"robot".*"role":"reviewer"/);

  const listed = await run(["keys", "ls"]);
  assert.match(listed.out, /robot +reviewer +in \d/);
  assert.ok(!listed.out.includes(key.slice(3)) && !listed.out.includes("hash"));
  const id = /created {2}([0-9a-f-]{36})/.exec(created.err)?.[1] ?? "";
  assert.equal((await run(["keys", "revoke", id.slice(0, 30)])).code, 2, "it asks first");
  assert.match((await run(["keys", "revoke", id.slice(0, 30), "--yes"])).out, /^revoked {2}/);
  assert.equal(await readStatus("GET", "/inbox", key), 401);
  assert.notEqual((await run(["keys", "revoke", id, "--yes"])).code, 0);
});

test("a limited key reaches its assistants and metadata only, in every list and by every id (cli-access.1)", async () => {
  const limits = ["--assistant", "agent", "--metadata", '{"region": ["eu", "uk"]}'];
  const key = (await run(["keys", "create", "eu", "--role", "operator", ...limits])).out.trim();
  const post = (path: string, body: unknown, as = key) => call(server, "POST", path, body, { "x-api-key": as });
  const made = async (metadata: object, as = key): Promise<string> =>
    ((await post("/threads", { metadata }, as)).body as { readonly thread_id: string }).thread_id;

  const own = await made({ region: "uk" });
  const foreign = await made({ region: "us" }, ADMIN);
  const unmarked = await made({}, ADMIN);
  assert.equal(await readStatus("GET", `/threads/${own}`, key), 200);
  for (const id of [foreign, unmarked]) assert.equal(await readStatus("GET", `/threads/${id}`, key), 404);
  const found = (await post("/threads/search", { limit: 100 })).body as readonly { readonly thread_id: string }[];
  assert.deepEqual(
    found.map(({ thread_id: id }) => id),
    [own],
  );
  const graphs = (await post("/assistants/search", {})).body as readonly { readonly graph_id: string }[];
  assert.deepEqual([...new Set(graphs.map(({ graph_id: id }) => id))], ["agent"]);

  const input = { some_text: "x" };
  assert.equal((await post(`/threads/${own}/runs/wait`, { assistant_id: "agent", input })).status, 200);
  assert.equal((await post(`/threads/${own}/runs/wait`, { assistant_id: "echo", input })).status, 403);
  assert.equal(await readStatus("GET", `/threads/${own}`, key), 200, "the run left the thread within the limits");
  const inbox = (await call(server, "GET", "/inbox", undefined, { "x-api-key": key })).body as {
    readonly items: readonly { readonly thread_id: string }[];
  };
  assert.deepEqual(
    inbox.items.map(({ thread_id: id }) => id),
    [own],
  );
});

test("a caller who is no administrator, and a server without roles, are refused with the reason (cli-access.2)", async () => {
  const key = (await run(["keys", "create", "op", "--role", "operator"])).out.trim();
  for (const args of [
    ["keys", "ls"],
    ["keys", "create", "more", "--role", "admin"],
    ["people", "remove", "ann", "--yes"],
  ]) {
    const refused = await run(args, key);
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /role/);
  }
  assert.equal((await run(["people", "ls"], key)).out, "No sign-ins yet.\n");
  const none = await run(["keys", "create", "robot", "--role", "viewer"], "", open);
  assert.notEqual(none.code, 0);
  assert.match(none.err, /HOLDPOINT_API_KEYS/);
});

for (const [args, says] of [
  [["keys", "create", "x"], /--role/],
  [["keys", "create", "x", "--role", "root"], /viewer, reviewer, operator, admin/],
  [["keys", "create", "x", "--role", "viewer", "--expires", "soon"], /12h, 90d or 52w/],
  [["keys", "create", "x", "--role", "viewer", "--metadata", '{"a": null}'], /metadata\.a/],
  [["keys", "create", "a b", "--role", "viewer"], /name/],
] as const) {
  test(`${args.join(" ")}: refused with the remedy`, async () => {
    const refused = await run(args);
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, says);
  });
}
