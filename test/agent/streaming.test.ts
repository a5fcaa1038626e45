// Tests of streams: events, readers, and retention.
//   streaming.1. Each mode has its events, of subgraphs too if requested; several modes at once are in one stream.
//   streaming.2. A pause has its interrupts, with the ids of the inbox, and accepts an answer as soon as it is visible.
//   streaming.3. Ids count from 0. A reader continues after its last event; -1, or nothing, is from the beginning.
//   streaming.4. Every reader gets the same events: first, late, one of many, or after a restart.
//   streaming.5. The stream reports expired events as a gap.
//   streaming.6. A thread's stream has all of its runs, one after the other, until its reader disconnects or the thread
//        disappears.
//   streaming.7. A silent stream has heartbeats, which the official client does not take for events.
//   streaming.8. A disconnected caller ends the run only on request.
import { Client, type StreamMode } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { readEvents, type WireEvent } from "../harness/events.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { newThread, onlyQuestion, readProblem, type Result, type WireRun } from "../harness/threads.ts";
import { onOldest } from "../harness/langgraph.ts";
import { PATIENCE } from "../harness/patience.ts";

const server = await startServerHere();
const folder = temporaryFolder();
const client = new Client({ apiUrl: server.url, apiKey: null, callerOptions: { maxRetries: 0 } });
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

let gates = 0;
function newGate(): { readonly gate: string; readonly open: () => void } {
  const gate = join(folder, `gate-${++gates}`);
  return { gate, open: () => writeFileSync(gate, "") };
}

/** With values that differ from run to run made equal. */
const joinEventNames = (events: readonly WireEvent[]): string =>
  events
    .map(({ event }) => event)
    .join(" ")
    .replaceAll(/[0-9a-f-]{36}/g, "ID");

/** Every mode that the official client declares: `debug`, `events` and `tools` have tests of their own. */
const QUIET: Record<Exclude<StreamMode, "debug" | "events" | "tools">, string> = {
  values: "values values",
  updates: "updates updates updates",
  custom: "custom custom custom",
  tasks: "tasks tasks tasks tasks tasks tasks",
  "messages-tuple": "messages messages messages",
  messages: "messages/metadata messages/partial messages/partial messages/partial messages/complete",
  checkpoints: "checkpoints checkpoints checkpoints checkpoints checkpoints",
  lifecycle: "lifecycle|inner:ID lifecycle|inner:ID",
};

suite("modes (streaming.1)", PATIENCE, () => {
  for (const [mode, expected] of Object.entries(QUIET)) {
    test(`${mode}: ${expected}`, async () => {
      const { path } = await newThread(server, "teller");
      const body = { assistant_id: "teller", input: {}, stream_mode: mode };
      const events = await (await readEvents(server, `${path}/runs/stream`, { body })).rest();
      assert.equal(joinEventNames(events), `metadata ${expected}`);
      assert.deepEqual(
        events.map(({ id }) => id),
        events.map((_, at) => String(at)), // streaming.3
      );
    });
  }

  test("debug and events show every inner step", async () => {
    const { path } = await newThread(server, "teller");
    const body = { assistant_id: "teller", input: {}, stream_mode: ["debug", "events"] };
    const events = await (await readEvents(server, `${path}/runs/stream`, { body })).rest();
    const of = (name: string): readonly WireEvent[] => events.filter(({ event }) => event === name);
    const types = of("debug").map(({ data }) => (data as { readonly type: string }).type);
    assert.deepEqual(new Set(types), new Set(["checkpoint", "task", "task_result"]));
    const kinds = new Set(of("events").map(({ data }) => (data as { readonly event: string }).event));
    for (const kind of ["on_chain_start", "on_chain_end", "on_chat_model_stream"]) assert.ok(kinds.has(kind), kind);
  });

  test("several at once come in the order in which things happen; those of subgraphs name their place", async () => {
    const { path } = await newThread(server, "teller");
    const stream_mode = ["values", "updates", "custom"];
    const body = { assistant_id: "teller", input: { events: 1 }, stream_mode, stream_subgraphs: true };
    const events = await (await readEvents(server, `${path}/runs/stream`, { body })).rest();
    assert.equal(
      joinEventNames(events),
      "metadata values custom updates updates values values|inner:ID custom|inner:ID updates|inner:ID values|inner:ID updates values",
    );
  });

  const FAILED = { event: "failed", error: { error: "TypeError", message: "broken below" } };
  const CALL = { id: "one", name: "task", args: { description: "dig", subagent_type: "helper" } };
  for (const [graph, input, ends, rest] of [
    ["tooled", { calls: [CALL] }, { event: "completed" }, { tool_call_id: "one" }],
    ["teller", { ask: true }, { event: "interrupted" }, {}],
    ["breakpoint_below", {}, { event: "interrupted" }, {}],
    // The oldest LangGraph streams the task of a failed subgraph without its error.
    ["fails_below", {}, onOldest ? { event: "completed" } : FAILED, {}],
  ] as const)
    test(`lifecycle: a graph of ${graph} starts, and ends with ${JSON.stringify(ends)}`, async () => {
      const { path } = await newThread(server, graph);
      const stream_mode = ["lifecycle", "updates", "custom"];
      const body = { assistant_id: graph, input, stream_mode };
      const events = await (await readEvents(server, `${path}/runs/stream`, { body })).rest();
      const below = events.filter(({ event }) => event.includes("|"));
      const namespace = below[0]?.event.split("|").slice(1);
      assert.deepEqual(
        below.map(({ event, data }) => [event, data]),
        [{ event: "started" }, ends].map((one) => [
          `lifecycle|${namespace?.join("|")}`,
          { ...one, namespace, ...rest },
        ]),
      );
    });

  test("messages/complete follows its values, with any other modes", async () => {
    for (const stream_mode of [
      ["values", "messages"],
      ["messages", "values"],
      ["messages", "values", "events"],
    ]) {
      const { path } = await newThread(server, "teller");
      const body = { assistant_id: "teller", input: {}, stream_mode };
      const events = await (await readEvents(server, `${path}/runs/stream`, { body })).rest();
      const names = joinEventNames(events.filter(({ event }) => event !== "events"));
      const growing = "messages/metadata messages/partial messages/partial messages/partial";
      assert.equal(names, `metadata ${growing} values messages/complete values`, stream_mode.join());
    }
  });

  test("a mode that there is not is refused, and no run made", async () => {
    const thread = await newThread(server, "teller");
    const body = { assistant_id: "teller", input: {}, stream_mode: "everything" };
    const refused = await call(server, "POST", `${thread.path}/runs/stream`, body);
    assert.deepEqual([refused.status, readProblem(refused).code], [422, "invalid_request"]);
    assert.deepEqual(await thread.runs(), []);
  });

  test("a failure is the last event, as the waiting caller would have it", async () => {
    const { path } = await newThread(server, "failing");
    const body = { assistant_id: "failing", input: {}, stream_mode: "updates" };
    const events = await (await readEvents(server, `${path}/runs/stream`, { body })).rest();
    assert.equal(joinEventNames(events), "metadata updates error");
    assert.deepEqual(events.at(-1)?.data, { error: "NodeFault", message: "this node always fails" });
  });
});

test("a pause shows its question, with the ids of the inbox, and is answered the moment it is seen (streaming.2)", async () => {
  const thread = await newThread(server, "agent");
  const body = { assistant_id: "agent", input: { some_text: "original" }, stream_mode: ["values", "updates"] };
  const reader = await readEvents(server, `${thread.path}/runs/stream`, { body });
  const [, , update] = [await reader.next(), await reader.next(), await reader.next()];
  assert.ok(update);
  const { __interrupt__: [question] = [] }: Result = update.data;
  assert.ok(question);
  const { path } = thread;
  const resume = { assistant_id: "agent", command: { resume: { [question.id]: "edited" } }, stream_mode: "values" };
  const answer = await (await readEvents(server, `${path}/runs/stream`, { body: resume })).rest();
  assert.deepEqual(answer.at(-1)?.data, { some_text: "edited" });
  const [last] = await reader.rest();
  assert.deepEqual(last?.data, { some_text: "original", __interrupt__: [question] });
});

test("a question in a subgraph has one id in every mode and place (streaming.2)", PATIENCE, async () => {
  const thread = await newThread(server, "teller");
  const stream_mode = ["values", "updates", "tasks"];
  const body = { assistant_id: "teller", input: { ask: true }, stream_mode, stream_subgraphs: true };
  const events = await (await readEvents(server, `${thread.path}/runs/stream`, { body })).rest();
  const [open] = await thread.open();
  assert.ok(open);
  const shown = JSON.stringify(events).match(/"id":"[0-9a-f]{32}"/g) ?? [];
  assert.ok(shown.length >= 4, shown.join());
  assert.deepEqual(new Set(shown), new Set([`"id":"${open.id}"`]));
  assert.equal(onlyQuestion(events.at(-1)?.data as unknown as Result).id, open.id);
});

suite("reading again (streaming.3, streaming.4)", PATIENCE, () => {
  test("many readers while it runs, and one after its end, have the same bytes", async () => {
    const thread = await newThread(server, "teller");
    const { gate, open } = newGate();
    const run = await thread.begin({ input: { gate, events: 300 }, stream_mode: ["custom", "values"] });
    const path = `${thread.path}/runs/${run.run_id}/stream`;
    const readers = await Promise.all(Array.from({ length: 20 }, () => readEvents(server, path)));
    open();
    const seen = await Promise.all(readers.map((reader) => reader.rest()));
    const late = await (await readEvents(server, path, { lastEventId: "-1" })).rest();
    assert.equal(late.length, 1 + 1 + 300 + 1 + 1 + 1);
    for (const events of seen) assert.deepEqual(events, late);
    assert.equal(
      (await readEvents(server, `/runs/${run.run_id}/stream`)).headers.get("location")?.slice(0, 6),
      "/runs/",
    );
  });

  test("a reader continues after its last event", async () => {
    const thread = await newThread(server, "teller");
    const run = await thread.begin({ input: {}, stream_mode: ["custom", "updates"] });
    const path = `${thread.path}/runs/${run.run_id}/stream`;
    const all = await (await readEvents(server, path)).rest();
    for (const [at, { id }] of all.entries()) {
      const rest = await (await readEvents(server, path, { lastEventId: id ?? "" })).rest();
      assert.deepEqual(rest, all.slice(at + 1));
    }
    const beyond = await (await readEvents(server, path, { lastEventId: "1000" })).rest();
    assert.deepEqual(beyond, []);
    const some = await (await readEvents(server, `${path}?stream_mode=updates`)).rest();
    assert.equal(joinEventNames(some), "metadata updates updates updates");
    const refused = await call(server, "GET", path, undefined, { "last-event-id": "yesterday" });
    assert.deepEqual([refused.status, readProblem(refused).code], [422, "invalid_request"]);
  });

  test("the official client reconnects at the position of the break", async () => {
    const { gate, open } = newGate();
    const { thread_id: id } = await client.threads.create();
    let broken = 0;
    const fragile = new Client({
      apiUrl: server.url,
      apiKey: null,
      callerOptions: {
        fetch: async (...request: Parameters<typeof fetch>) => {
          const response = await fetch(...request);
          if (broken++ > 0 || response.body === null) return response;
          const once = response.body.pipeThrough(
            new TransformStream<Uint8Array, Uint8Array>({
              transform(piece, stream) {
                stream.enqueue(piece);
                open();
                stream.error(new TypeError("network connection was lost"));
              },
            }),
          );
          return new Response(once, { status: response.status, headers: response.headers });
        },
      },
    });
    const ids: string[] = [];
    const input = { gate, events: 50 };
    for await (const event of fragile.runs.stream(id, "teller", { input, streamMode: "custom" })) {
      ids.push((event as { readonly id?: string }).id ?? "");
    }
    assert.deepEqual(
      ids,
      ids.map((_, at) => String(at)),
    );
    assert.equal(ids.length, 1 + 50 + 1);
    assert.ok(broken > 1);
  });
});

test("a stateless stream names the run, and leaves no thread (streaming.4)", PATIENCE, async () => {
  const body = { assistant_id: "teller", input: {}, stream_mode: "custom", metadata: { of: "stateless" } };
  const reader = await readEvents(server, "/runs/stream", { body });
  const run = (await reader.next())?.data as unknown as { readonly run_id: string };
  assert.equal(reader.headers.get("content-location"), `/runs/${run.run_id}`);
  assert.equal(reader.headers.get("location"), `/runs/${run.run_id}/stream`);
  assert.equal(joinEventNames(await reader.rest()), "custom custom custom");
  assert.deepEqual(await client.threads.search({ metadata: { of: "stateless" } }), []);
});

suite("limits (streaming.5, streaming.7)", PATIENCE, async () => {
  const small = await startServerHere({
    env: { RESUMABLE_STREAM_TTL_SECONDS: "600" },
    limits: { streamEventsMax: 3000, streamHeartbeatMs: 100, streamKeptSecs: 0 },
  });
  after(async () => {
    await small.stop();
    removeFolder(small.dataDir);
  });

  test("beyond the limit the oldest events expire: a late reader gets the gap, and the newest", async () => {
    const thread = await newThread(small, "teller");
    const run = await thread.begin({ input: { events: 10_000 }, stream_mode: "custom", stream_resumable: true });
    await thread.join(run);
    const path = `${thread.path}/runs/${run.run_id}/stream`;
    const all = await (await readEvents(small, path, { lastEventId: "-1" })).rest();
    assert.equal(all[0]?.event, "metadata");
    assert.ok(all.length > 1000 && all.length <= 3300, `${all.length} events are kept`);
    assert.equal(all.at(-1)?.id, "10001");
    const told = await (await readEvents(small, path, { lastEventId: "5" })).rest();
    assert.deepEqual(
      told.map(({ event, id, data }) => [event, id, (data as { readonly error: string }).error]),
      [["error", null, "EventsDropped"]],
    );
  });

  test("a silent stream has heartbeats, and the official client sees no event in them", async () => {
    const { gate, open } = newGate();
    const thread = await newThread(small, "teller");
    const run = await thread.begin({ input: { gate }, stream_mode: "custom" });
    const raw = await readEvents(small, `${thread.path}/runs/${run.run_id}/stream`);
    const seen: string[] = [];
    const official = new Client({ apiUrl: small.url, apiKey: null });
    const reading = (async () => {
      for await (const { event } of official.runs.joinStream(thread.threadId, run.run_id)) seen.push(event);
    })();
    const rest = raw.rest();
    await raw.whenComments("two heartbeats", ({ length }) => length >= 2);
    open();
    assert.equal(joinEventNames(await rest), "metadata custom custom custom");
    assert.deepEqual(new Set(raw.comments), new Set(["hb"]));
    await reading;
    assert.deepEqual(seen, ["metadata", "custom", "custom", "custom"]);
  });
});

suite("a thread's stream (streaming.6)", PATIENCE, () => {
  test("one run follows another, with ids to resume from", async () => {
    const thread = await newThread(server, "teller");
    const reader = await readEvents(server, `${thread.path}/stream`);
    const some = async (count: number): Promise<WireEvent[]> => {
      const events: WireEvent[] = [];
      for (let event = await reader.next(); event !== null; event = await reader.next()) {
        if (events.push(event) === count) break;
      }
      return events;
    };
    const runs: WireRun[] = [];
    const all: WireEvent[] = [];
    for (const input of [{ ask: true }, null]) {
      const body = input === null ? { command: { resume: "yes" } } : { input };
      const run = await thread.begin({ ...body, stream_mode: "custom" });
      runs.push(run);
      const told = await some(input === null ? 3 : 5);
      assert.equal(
        joinEventNames(told),
        input === null ? "metadata custom metadata" : "metadata custom custom custom metadata",
      );
      assert.ok(told.every(({ id }) => id?.startsWith(`${run.run_id}:`)));
      assert.deepEqual(told.at(-1)?.data, { run_id: run.run_id, status: "run_done" });
      all.push(...told);
    }
    reader.leave();
    const again = await readEvents(server, `${thread.path}/stream`, { lastEventId: all[2]?.id ?? "" });
    const rest: WireEvent[] = [];
    while (rest.length < all.length - 3) rest.push((await again.next()) ?? assert.fail("it never ends by itself"));
    assert.deepEqual(rest, all.slice(3));
    await call(server, "DELETE", thread.path);
    const [gone] = await again.rest();
    assert.ok(gone);
    assert.deepEqual([gone.event, (gone.data as { readonly error: string }).error], ["error", "Deleted"]);
  });

  test("lifecycle has the starts and ends of runs; the official client requests it", async () => {
    const thread = await newThread(server, "teller");
    const leave = new AbortController();
    const stream = client.threads.joinStream(thread.threadId, {
      lastEventId: "-1",
      streamMode: ["lifecycle"],
      signal: leave.signal,
    });
    await thread.run({ input: {} });
    const seen: string[] = [];
    for await (const { event, data } of stream) {
      seen.push(event);
      if ((data as { readonly status?: string }).status === "run_done") break;
    }
    leave.abort();
    assert.deepEqual(seen, ["metadata", "metadata"]);
  });

  test("of a thread that is not there is refused", async () => {
    const refused = await call(server, "GET", "/threads/00000000-0000-4000-8000-000000000000/stream");
    assert.deepEqual([refused.status, readProblem(refused).code], [404, "thread_not_found"]);
  });
});

suite("a caller that hangs up (streaming.8)", PATIENCE, () => {
  for (const [on_disconnect, ends] of [
    ["cancel", "cancel"],
    ["continue", "done"],
    [undefined, "done"],
  ] as const) {
    test(`on_disconnect ${on_disconnect ?? "left out"}: the run ends by ${ends}`, async () => {
      const thread = await newThread(server, "teller");
      const { gate, open } = newGate();
      const stream_mode: StreamMode = "custom";
      const body = { assistant_id: "teller", input: { gate }, stream_mode, on_disconnect };
      const reader = await readEvents(server, `${thread.path}/runs/stream`, { body });
      await reader.next();
      await reader.next();
      reader.leave();
      if (ends === "done") open();
      const [run] = await thread.runs();
      await call(server, "GET", `${thread.path}/runs/${run?.run_id}/join`);
      assert.equal((await thread.runs())[0]?.ended_by, ends);
    });
  }
});
