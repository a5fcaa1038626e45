// Tests of what the events of a thread show, and to whom.
//   thread-secrets.1. No event of any channel has a member of `configurable`, a field of the authentication or a stack,
//     of runs over the protocol and over REST; keys of the library in a request have no effect.
//   thread-secrets.2. Each command is carried out as its own caller: two users with a socket each on one thread.
//   thread-secrets.3. An event is what it was when it came about, though the graph changes the object later.
//   thread-secrets.4. A failed run ends with one `failed`, with plain text and no `reason`; so do its namespaces.
import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import { onOldest } from "../harness/langgraph.ts";
import { PATIENCE } from "../harness/patience.ts";
import { isEnd, isRunEnd } from "../harness/protocol/thread-page.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";
import { openEvents, type ProtocolEvent } from "../harness/thread-protocol.ts";

const KEY = { "x-api-key": "a-key-of-some-length" };
const server = await startServerHere({ env: { HOLDPOINT_API_KEYS: `ann:${KEY["x-api-key"]}` } });
const tenants = await startServerHere({ config: join(ROOT, "test", "graphs", "tenants", "langgraph.json") });
after(async () => {
  for (const one of [server, tenants]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
});

const ALL = {
  channels: ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"],
};
const CONFIGURABLE = {
  secret_token: "canary-1",
  nested: { password: "canary-2" },
  __pregel_resuming: "canary-3",
  __pregel_send: "canary-4",
  langgraph_auth_user: { identity: "canary-5" },
  langgraph_auth_permissions: ["canary-6"],
};
const HIDDEN = /canary|langgraph_auth|__pregel_(resuming|send)|node_modules|\.ts:\d+|x-api-key|a-key-of-some/;

async function collectEvents(assistant: string, input: object, rest: boolean): Promise<readonly ProtocolEvent[]> {
  const threadId = String((await call(server, "POST", "/threads", {}, KEY)).body["thread_id"]);
  const reader = await openEvents(server, threadId, ALL, KEY);
  const run = { assistant_id: assistant, input, config: { configurable: CONFIGURABLE } };
  if (rest) {
    const body = {
      ...run,
      stream_mode: ["values", "updates", "tasks", "custom", "messages-tuple"],
      stream_subgraphs: true,
    };
    await call(server, "POST", `/threads/${threadId}/runs`, body, KEY);
  } else {
    const command = { id: 1, method: "run.start", params: run };
    const { body } = await call(server, "POST", `/threads/${threadId}/commands`, command, KEY);
    assert.equal(body["type"], "success");
  }
  const events = await reader.until(isEnd);
  reader.close();
  return events;
}

const RUNS: readonly (readonly [assistant: string, input: object, methods: readonly string[]])[] = [
  ["teller", { ask: true }, ["lifecycle", "values", "messages", "custom", "updates", "tasks", "input.requested"]],
  ["tooled", { calls: [{ id: "f", name: "fail", args: { text: "x" } }] }, ["tools", "tasks", "lifecycle"]],
  ["throwing", {}, ["lifecycle"]],
];
for (const [assistant, input, methods] of RUNS) {
  for (const rest of [false, true]) {
    test(`events of ${assistant} over ${rest ? "REST" : "the protocol"} (thread-secrets.1)`, PATIENCE, async () => {
      const events = await collectEvents(assistant, input, rest);
      const seen = new Set(events.map(({ method }) => method));
      if (!rest)
        assert.deepEqual(
          methods.filter((method) => !seen.has(method)),
          [],
        );
      for (const event of events) assert.doesNotMatch(JSON.stringify(event), HIDDEN);
    });
  }
}

test("each command has the rights of its own caller (thread-secrets.2)", PATIENCE, async () => {
  const as = (name: string) => ({ authorization: `Bearer token-${name}` });
  const threadId = String((await call(tenants, "POST", "/threads", {}, as("ann"))).body["thread_id"]);
  const open = async (name: string) => {
    const address = `${tenants.url.replace("http", "ws")}/threads/${threadId}/stream/events`;
    const socket = new WebSocket(address, { headers: as(name) });
    await once(socket, "open");
    return async (method: string, params: object = {}) => {
      const replied = once(socket, "message");
      socket.send(JSON.stringify({ id: 1, method, params }));
      return JSON.parse(((await replied)[0] as Buffer).toString()) as Readonly<Record<string, unknown>>;
    };
  };
  const [ann, kim, bob, eve] = [await open("ann"), await open("kim"), await open("bob"), await open("eve")];
  const start = { assistant_id: "whoami", input: {} };
  assert.equal((await bob("run.start", start))["error"], "no_such_run"); // as if the thread were not there
  assert.equal((await eve("run.start", start))["error"], "permission_denied");
  const reader = await openEvents(tenants, threadId, { channels: ["lifecycle", "input", "values"] }, as("ann"));
  const { result } = await ann("run.start", start);
  const events = await reader.until(isRunEnd((result as { readonly run_id: string }).run_id));
  const id = events.find(({ method }) => method === "input.requested")?.data["interrupt_id"];
  const respond = { interrupt_id: id, response: true };
  assert.equal((await bob("input.respond", respond))["error"], "no_such_run");
  assert.equal((await eve("input.respond", respond))["error"], "permission_denied");
  assert.equal((await eve("state.get"))["type"], "success");
  const answered = await kim("input.respond", respond);
  const later = await reader.until(isRunEnd((answered["result"] as { readonly run_id: string }).run_id));
  const { before, after: then } = (later.findLast(({ method }) => method === "values")?.data ?? {}) as Readonly<
    Record<string, { readonly configurable: { readonly langgraph_auth_user_id: string } }>
  >;
  assert.deepEqual(
    [before?.configurable.langgraph_auth_user_id, then?.configurable.langgraph_auth_user_id],
    ["ann", "kim"],
  );
  reader.close();
});

test("later changes of an object are not in earlier events (thread-secrets.3)", PATIENCE, async () => {
  const events = await collectEvents("changing", {}, false);
  const of = (method: string) => events.filter((event) => event.method === method).map(({ data }) => data);
  assert.deepEqual(of("custom"), [{ payload: { n: 1, list: ["first"] } }]);
  const [update] = of("updates");
  const { seen, messages } = (update?.["values"] ?? {}) as {
    readonly seen: object;
    readonly messages?: readonly { readonly content: string }[];
  };
  assert.deepEqual([seen, messages?.[0]?.content], [{ n: 2, list: ["first", "second"] }, "first"]);
  const states = of("values").filter((one) => "seen" in one);
  assert.deepEqual(states[0]?.["seen"], { n: 2, list: ["first", "second"] });
});

test("a failed run and its namespace (thread-secrets.4)", PATIENCE, async () => {
  const events = await collectEvents("fails_below", {}, false);
  const lives = events.filter(({ method }) => method === "lifecycle");
  assert.deepEqual(
    lives.map(({ namespace, data }) => [namespace.map((part) => part.split(":")[0]).join("/"), data["event"]]),
    [
      ["", "running"],
      ["below", "started"],
      ["below", onOldest ? "completed" : "failed"], // that library does not report a task's error
      ["", "failed"],
    ],
  );
  const end = lives.at(-1)?.data;
  assert.deepEqual(
    [end?.["error"], end?.["ended_by"], "reason" in (end ?? {})],
    ["TypeError: broken below", "failure", false],
  );
});
