// What the reference's server has changed for its clients since January 2026, by the version of its changelog: each
// entry is accepted with its effect, or refused by name. Entries about its images, its databases and its hosting have
// no row. What docs/how-to/migrate.md names as a difference is checked in differences.test.ts.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, suite, test } from "node:test";
import { PATIENCE } from "../../harness/patience.ts";
import { startServerHere } from "../../harness/server-here.ts";
import { call, removeFolder } from "../../harness/server.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

type Body = Readonly<Record<string, unknown>>;

async function send(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Body> {
  const answer = await call(server, method, path, body, headers);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}
const list = async (path: string, body: object): Promise<readonly Body[]> =>
  (await send("POST", path, body)) as unknown as readonly Body[];
const refuses = async (method: string, path: string, body: object): Promise<readonly unknown[]> => {
  const answer = await call(server, method, path, body);
  return [answer.status, (answer.body as Body)["code"]];
};
const makeThread = async (body: object = {}): Promise<string> =>
  String((await send("POST", "/threads", body))["thread_id"]);
const makeCron = (more: object): Promise<Body> =>
  send("POST", "/runs/crons", { assistant_id: "steps", schedule: "0 0 1 1 *", input: {}, enabled: false, ...more });
const put = (namespace: readonly string[], more: object = {}) =>
  send("PUT", "/store/items", { namespace, key: "k", value: { a: 1 }, ...more });

const ENTRIES: readonly (readonly [version: string, entry: string, check: () => Promise<void>])[] = [
  [
    "0.6.18",
    "a thread shows its time to live on demand",
    async () => {
      const id = await makeThread({ ttl: 60 });
      assert.equal((await send("GET", `/threads/${id}`))["ttl"], undefined);
      assert.equal(((await send("GET", `/threads/${id}?include=ttl`))["ttl"] as Body)["ttl"], 60);
    },
  ],
  [
    "0.7.15",
    "a cron can be switched off",
    async () => {
      const { enabled, next_run_date: next } = await makeCron({});
      assert.deepEqual([enabled, next], [false, null]);
    },
  ],
  [
    "0.7.30",
    "a change of a cron merges its metadata",
    async () => {
      const { cron_id: id } = await makeCron({ metadata: { a: 1 } });
      const { metadata } = await send("PATCH", `/runs/crons/${String(id)}`, { metadata: { b: 2 } });
      assert.deepEqual(metadata, { a: 1, b: 2 });
    },
  ],
  [
    "0.7.29",
    "threads are found by their ids",
    async () => {
      const id = await makeThread();
      const found = await list("/threads/search", { ids: [id] });
      assert.deepEqual(
        found.map((one) => one["thread_id"]),
        [id],
      );
    },
  ],
  [
    "0.7.32",
    "a join takes several stream modes",
    async () => {
      const id = await makeThread();
      const run = await send("POST", `/threads/${id}/runs`, {
        assistant_id: "steps",
        input: {},
        stream_mode: ["values", "updates"],
        stream_resumable: true,
      });
      const path = `/threads/${id}/runs/${String(run["run_id"])}/stream?stream_mode=values&stream_mode=updates`;
      const { text } = await call(server, "GET", path, undefined, { "Last-Event-ID": "-1" });
      for (const event of ["values", "updates"]) assert.match(text, new RegExp(`^event: ${event}$`, "m"));
    },
  ],
  [
    "0.7.38",
    "threads know when their state changed",
    async () => {
      const id = await makeThread();
      const before = await send("GET", `/threads/${id}`);
      const after = await send("PATCH", `/threads/${id}`, { metadata: { a: 1 } });
      assert.equal(after["state_updated_at"], before["state_updated_at"]);
      await send("POST", `/threads/${id}/runs/wait`, { assistant_id: "steps", input: {} });
      assert.notEqual((await send("GET", `/threads/${id}`))["state_updated_at"], before["state_updated_at"]);
    },
  ],
  [
    "0.7.49",
    "the server's own keys of a run's metadata refuse nothing, and stay its own",
    async () => {
      const id = await makeThread();
      const own = { graph_id: "x", assistant_id: "x", created_by: "x" };
      const theirs = { run_id: "x", thread_id: "x", step: 99, source: "x", parents: "x" };
      const body = { assistant_id: "steps", input: {}, metadata: { mine: 1, ...own, ...theirs } };
      const run = await send("POST", `/threads/${id}/runs`, body);
      const metadata = run["metadata"] as Body;
      assert.deepEqual(
        [metadata["mine"], metadata["graph_id"], metadata["assistant_id"], metadata["created_by"]],
        [1, "steps", run["assistant_id"], "system"],
      );
      await send("GET", `/threads/${id}/runs/${String(run["run_id"])}/join`);
      const state = (await send("GET", `/threads/${id}/state`))["metadata"] as Body;
      assert.deepEqual(
        [state["mine"], state["graph_id"], state["run_id"], state["thread_id"], state["source"], state["parents"]],
        [1, "steps", run["run_id"], id, "loop", {}],
      );
    },
  ],
  [
    "0.7.56",
    "items of the store have a time to live and an index of their own",
    async () => {
      await put(["ttl"], { ttl: 5, index: false });
      await send("POST", "/store/items/search", { namespace_prefix: ["ttl"], refresh_ttl: false });
    },
  ],
  [
    "0.7.69",
    "a cron has a time zone",
    async () => assert.equal((await makeCron({ timezone: "Europe/Berlin" }))["timezone"], "Europe/Berlin"),
  ],
  [
    "0.7.71",
    "pruning with `delete` removes the threads",
    async () => {
      const id = await makeThread();
      await send("POST", "/threads/prune", { thread_ids: [id], strategy: "delete" });
      assert.equal((await call(server, "GET", `/threads/${id}`)).status, 404);
    },
  ],
  [
    "0.7.95",
    "a change of a thread without a reply",
    async () => {
      const path = `/threads/${await makeThread()}`;
      const answer = await call(server, "PATCH", path, { metadata: {} }, { Prefer: "return=minimal" });
      assert.deepEqual([answer.status, answer.text], [204, ""]);
    },
  ],
  [
    "0.9.0",
    "crons are found and counted by metadata",
    async () => {
      const mark = { of: randomUUID() };
      await makeCron({ metadata: mark });
      assert.equal((await list("/runs/crons/search", { metadata: mark })).length, 1);
      assert.equal(await send("POST", "/runs/crons/count", { metadata: mark }), 1);
    },
  ],
  [
    "0.10.0",
    "a cron is read by its id",
    async () => {
      const { cron_id: id } = await makeCron({});
      assert.equal((await send("GET", `/runs/crons/${String(id)}`))["cron_id"], id);
    },
  ],
  [
    "0.10.0",
    "webhooks to this machine need a permission",
    async () => {
      for (const webhook of ["http://127.0.0.1:1/", "https://localhost/", "/threads"]) {
        const body = { assistant_id: "steps", input: {}, webhook };
        assert.deepEqual(await refuses("POST", "/runs/wait", body), [422, "webhook_refused"], webhook);
      }
    },
  ],
  [
    "0.10.0",
    "run.start begins at the checkpoint of its config",
    async () => {
      const id = await makeThread();
      await send("POST", `/threads/${id}/runs/wait`, { assistant_id: "steps", input: {} });
      const history = await list(`/threads/${id}/history`, { limit: 100 });
      const first = history.at(-1)?.["checkpoint"] as Body;
      const config = { configurable: { checkpoint_id: first["checkpoint_id"] } };
      const params = { assistant_id: "steps", input: null, config };
      await send("POST", `/threads/${id}/commands`, { id: 1, method: "run.start", params });
      const [run] = (await send("GET", `/threads/${id}/runs`)) as unknown as readonly Body[];
      await send("GET", `/threads/${id}/runs/${String(run?.["run_id"])}/join`);
      const parents = (await list(`/threads/${id}/history`, { limit: 100 })).filter(
        (one) => (one["parent_checkpoint"] as Body | null)?.["checkpoint_id"] === first["checkpoint_id"],
      );
      assert.equal(parents.length, 2);
    },
  ],
  [
    "0.13.0",
    "labels of namespaces are compared whole, and as they are written",
    async () => {
      await put(["abc"]);
      for (const prefix of ["ab", "a_c", "a%"])
        assert.deepEqual((await send("POST", "/store/items/search", { namespace_prefix: [prefix] }))["items"], []);
    },
  ],
  [
    "0.13.0",
    "an assistant names the media types of its A2A card",
    async () => {
      const a2a = { input_modes: ["text/plain", "application/pdf"], output_modes: ["application/pdf"] };
      const { assistant_id: id } = await send("POST", "/assistants", { graph_id: "steps", metadata: { a2a } });
      const card = await send("GET", `/.well-known/agent-card.json?assistant_id=${String(id)}`);
      assert.deepEqual([card["defaultInputModes"], card["defaultOutputModes"]], Object.values(a2a));
    },
  ],
  [
    "0.15.0",
    "a state with the text of an interrupt is no interrupt",
    async () => {
      const input = { visited: ["__interrupt__"] };
      const state = await send("POST", "/runs/wait", { assistant_id: "steps", input });
      assert.ok((state["visited"] as readonly unknown[]).includes("__interrupt__"));
      assert.equal("__interrupt__" in state, false);
    },
  ],
  [
    "0.16.0",
    "namespaces that cannot be read back are refused",
    async () => {
      for (const namespace of [["a", ""], ["a.b"], []]) {
        const body = { namespace, key: "k", value: {} };
        assert.deepEqual(await refuses("PUT", "/store/items", body), [422, "store_namespace_invalid"]);
      }
    },
  ],
  [
    "0.16.0",
    "an interrupt carries the schema of its answer",
    async () => {
      const id = await makeThread();
      const shown = await send("POST", `/threads/${id}/runs/wait`, { assistant_id: "schema", input: {} });
      const { interrupts } = await send("GET", `/threads/${id}`);
      for (const one of [shown["__interrupt__"], Object.values(interrupts as Body).flat()]) {
        const [open] = one as readonly Body[];
        assert.equal(typeof open?.["response_schema"], "object");
      }
    },
  ],
  [
    "0.16.0",
    "a cancelled run says why",
    async () => {
      const id = await makeThread();
      const body = { assistant_id: "slow", input: { waitMs: 60_000 } };
      const run = await send("POST", `/threads/${id}/runs`, body);
      const path = `/threads/${id}/runs/${String(run["run_id"])}`;
      await send("POST", `${path}/cancel?wait=true`);
      assert.match(String((await send("GET", path))["cancel_reason"]), /^requested: /);
    },
  ],
  [
    "0.16.0",
    "a thread says how many bytes it has",
    async () => assert.notDeepEqual(await send("GET", `/threads/${await makeThread()}/storage`), {}),
  ],
  ["0.16.0", "/ok has the health of each part", async () => assert.ok("services" in (await send("GET", "/ok")))],
];

suite("the changes of the reference for clients", PATIENCE, () => {
  for (const [version, entry, check] of ENTRIES) test(`${version}: ${entry}`, check);
});
