// Erasure with the traces in another server, which `TRACES` names: console-api.1, remote.3.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { IS_LONG } from "../harness/long.ts";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { findPlaces } from "../harness/storage/find-places.ts";
import { until } from "../harness/threads.ts";

/** In every identifier of the person, and in what the threads say. */
const PERSON = "zoe4d1c";
const NAME = `${PERSON}@example.com`;
const ADMIN = { "x-api-key": "the-long-key-of-the-admin" };

async function start(t: TestContext, env: Record<string, string>): Promise<ServerHere> {
  const server = await startServerHere({ env });
  t.after(async () => {
    await server.stop();
    removeFolder(server.dataDir);
  });
  return server;
}

async function post(server: ServerHere, path: string, body: object, headers: Record<string, string> = {}) {
  const reply = await call(server, "POST", path, body, headers);
  assert.equal(reply.status, 200, reply.text);
  return reply.body as Readonly<Record<string, unknown>>;
}

/** A server with traces, and another one that exports to it and shows them. */
async function startBoth(t: TestContext, databaseUri: string) {
  const traces = await start(t, {
    DATABASE_URI: databaseUri,
    HOLDPOINT_API_KEYS: `root:${ADMIN["x-api-key"]}`,
    TRACES: "on",
    HTTP_PORT: "0",
    TRACES_PORT: "0",
    GRPC_PORT: "0",
  });
  const { body } = await call(traces, "GET", "/console/api/about", undefined, ADMIN);
  const { collector } = body as { readonly collector: { readonly url: string } };
  const { key: viewer } = await post(traces, "/keys", { name: "reads", role: "viewer" }, ADMIN);
  const startOther = (key: string): Promise<ServerHere> =>
    start(t, {
      DATABASE_URI: "",
      TRACES: `${traces.url}/console/api`,
      TRACES_KEY: key,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    });
  return { traces, startOther, viewer: String(viewer) };
}

/** A thread that names the person, and whose trace has arrived. */
async function askAbout(server: ServerHere): Promise<string> {
  const { thread_id: threadId } = await post(server, "/threads", {});
  const run = { assistant_id: "echo", input: { payload: { question: `Pay ${NAME}?` } } };
  await post(server, `/threads/${String(threadId)}/runs/wait`, run);
  await until("the trace", async () => ((await countTraces(server, String(threadId))) > 0 ? true : undefined));
  return String(threadId);
}

async function countTraces(server: ServerHere, threadId: string): Promise<number> {
  const { body } = await call(server, "GET", `/console/api/traces?thread_id=${threadId}`);
  return (body as { readonly items: readonly object[] }).items.length;
}

const STORAGES = [
  ["SQLite", async () => ""],
  ["PostgreSQL", newDatabase],
] as const;

for (const [storage, openDatabase] of IS_LONG ? STORAGES : STORAGES.slice(0, 1))
  test(`an erasure reaches the traces of another server on ${storage} (console-api.1)`, PATIENCE, async (t) => {
    const databaseUri = await openDatabase();
    const { traces, startOther } = await startBoth(t, databaseUri);
    const server = await startOther(ADMIN["x-api-key"]);
    const find = (): Promise<readonly string[]> => findPlaces(traces.dataDir, databaseUri, PERSON);
    const [thread, left] = [await askAbout(server), await askAbout(server)];
    const places = async (path: string, dryRun: boolean): Promise<unknown> =>
      (await post(server, path, { dry_run: dryRun }))["places"];
    const erasure = `/threads/${thread}/erase`;
    const planned = await places(erasure, true);
    assert.equal(await countTraces(server, thread), 1, "a dry run deletes nothing");
    assert.deepEqual(await places(erasure, false), planned);
    assert.equal((planned as { readonly traces: number }).traces, 1);
    assert.equal(await countTraces(server, thread), 0);
    assert.notDeepEqual(await find(), []);
    assert.equal(await countTraces(server, left), 1, "the trace of another thread stays");
    const { places: erased, complete } = await post(server, `/people/${NAME}/erase`, {});
    assert.deepEqual([(erased as { readonly traces: number }).traces, complete], [1, true]);
    assert.deepEqual(await find(), []);
  });

test("an erasure whose traces cannot be erased says why, and has not ended (remote.3)", PATIENCE, async (t) => {
  const { startOther, viewer } = await startBoth(t, "");
  const server = await startOther(viewer);
  await askAbout(server);
  const { status, text } = await call(server, "POST", `/people/${NAME}/erase`, {});
  assert.equal(status, 502, text);
  assert.match(text, /TRACES_KEY needs the role admin.*part_unreachable/);
  const { body } = await call(server, "GET", "/audit?action=person_removed");
  const acts = (body as { readonly items: readonly { readonly value: { readonly erased: unknown } }[] }).items;
  assert.deepEqual(
    acts.map(({ value }) => value.erased),
    ["begun"],
  );
});
