// `holdpoint api`: every operation of the HTTP API from a terminal.
// Checked:
//   cli-api.1. Without a method a call is a GET, with fields or a body a POST; fields of a GET are the query.
//   cli-api.2. A refusal prints the body and a sentence, and exits with 1; an invalid command line with 2; no server
//        with 69.
//   cli-api.3. --paginate reads every page, by cursor or by offset; --json prints one object a line.
//   cli-api.4. Events are printed as they come, and the API key is in no output.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lines, verb, type Ended } from "../harness/cli.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";

const KEY = "key-of-the-cli-0123456789";
let server: ServerHere;
const folder = temporaryFolder();
before(async () => {
  server = await startServerHere({ env: { HOLDPOINT_API_KEYS: `cli:${KEY}` } });
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

const api = (args: readonly string[], input = ""): Promise<Ended> =>
  verb(["api", ...args], { env: { HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: KEY }, input });

async function reply(args: readonly string[], input = ""): Promise<never> {
  const { code, out, err } = await api(args, input);
  assert.deepEqual([code, err], [0, ""], out);
  return JSON.parse(out) as never;
}

test("assistants are created, changed, read and deleted (cli-api.1)", async () => {
  const made: { readonly assistant_id: string; readonly context: object } = await reply([
    "assistants",
    ..."-f graph_id=echo -f name=careful -F context[a]=1 -F context[list][]=x -F context[list][]=2".split(" "),
  ]);
  assert.deepEqual(made.context, { a: 1, list: ["x", 2] });
  const path = `/assistants/${made.assistant_id}`;
  const changed: { readonly version: number } = await reply(["patch", path, "-f", "name=strict"]);
  assert.equal(changed.version, 2);
  assert.equal(((await reply([path])) as { readonly name: string }).name, "strict");
  assert.deepEqual(await reply(["-X", "DELETE", path]), [made.assistant_id]);
});

test("items of the store: a body from a file, from standard input, and a query from fields (cli-api.1)", async () => {
  const file = join(folder, "item.json");
  writeFileSync(file, '{"namespace": ["users", "7"], "key": "profile", "value": {"name": "Ann"}}');
  assert.deepEqual(await api(["PUT", "/store/items", "--input", file]), { code: 0, out: "", err: "" });
  const read: { readonly value: object } = await reply([
    "store/items",
    "-X",
    "GET",
    "-f",
    "namespace=users.7",
    "-f",
    "key=profile",
  ]);
  assert.deepEqual(read.value, { name: "Ann" });
  const found = await api(["/store/items/search", "--input", "-", "--json"], '{"namespace_prefix": ["users"]}');
  assert.deepEqual(
    (lines(found.out) as readonly { readonly key: string }[]).map(({ key }) => key),
    ["profile"],
  );
});

test("a refusal prints the body as the API gives it, and the sentence (cli-api.2)", async () => {
  const { code, out, err } = await api(["/threads/00000000-0000-4000-8000-000000000000"]);
  assert.equal(code, 1);
  assert.equal((JSON.parse(out) as { readonly code: string }).code, "thread_not_found");
  assert.match(err, /^holdpoint: .+ \(HTTP 404\)\n$/);
  const refused = await verb(["api", "/threads", "-X", "POST", "--url", server.url, "-F", "metadata=1"]);
  assert.deepEqual([refused.code, /HTTP 401/.test(refused.err)], [1, true], refused.err);
});

for (const [name, args] of [
  ["no path", []],
  ["a method alone", ["GET"]],
  ["an unknown method", ["FETCH", "/ok"]],
  ["two methods", ["GET", "/ok", "-X", "POST"]],
  ["another server in the path", ["https://example.com/ok"]],
  ["a body in a GET", ["GET", "/ok", "--input", "-"]],
  ["a missing file", ["/threads", "--input", "none.json"]],
  ["a field without a value", ["/threads", "-f", "metadata"]],
  ["a header without a name", ["/ok", "-H", "secret"]],
] as const) {
  test(`${name} is an invalid command line (cli-api.2)`, async () => {
    const { code, out, err } = await api(args);
    assert.deepEqual([code, out], [2, ""], err);
    assert.doesNotMatch(err, /secret/);
  });
}

test("without a server the exit code is 69 (cli-api.2)", async () => {
  assert.equal((await verb(["api", "/ok"], { env: {} })).code, 69);
  assert.equal((await verb(["api", "/ok"], { env: { HOLDPOINT_URL: "http://127.0.0.1:1" } })).code, 69);
});

test("--paginate reads every page, by offset and by cursor (cli-api.3)", async () => {
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) {
    const made: { readonly thread_id: string } = await reply(["POST", "/threads", "-f", "metadata[suite]=pages"]);
    ids.push(made.thread_id);
    const run = [
      "POST",
      `/threads/${made.thread_id}/runs/wait`,
      "-f",
      "assistant_id=echo",
      "-f",
      "input[payload]=Well?",
    ];
    await reply(run);
  }
  const search = ["POST", "/threads/search", "-f", "metadata[suite]=pages", "-F", "limit=2"];
  const listThreadIds = (list: readonly unknown[]): readonly unknown[] =>
    list.map((one) => (one as { readonly thread_id: string }).thread_id).sort();
  assert.equal(((await reply(search)) as readonly object[]).length, 2);
  assert.deepEqual(listThreadIds(await reply([...search, "--paginate"])), ids.toSorted());
  const byCursor = await api(["/inbox", "-F", "limit=2", "--paginate", "--json", "-X", "GET"]);
  assert.deepEqual(listThreadIds(lines(byCursor.out)), ids.toSorted());
  assert.equal((await api(["/info", "--paginate"])).code, 2);
});

test("events and text are printed as they come, headers with --include, and no key (cli-api.4)", async () => {
  const run = ["/runs/stream", "-f", "assistant_id=echo", "-f", "input[payload]=Well?", "-f", "stream_mode[]=updates"];
  const { code, out } = await api(run);
  assert.deepEqual([code, /^event: updates\ndata: /m.test(out)], [0, true], out);
  const metrics = await api(["/metrics", "--include"]);
  assert.match(metrics.out, /^HTTP 200 .*\n(.+\n)*content-type: text\/plain[^]*agent_/);
  assert.doesNotMatch(out + metrics.out + metrics.err, new RegExp(KEY));
});
