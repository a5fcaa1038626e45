// Members of replies that the reference has since this year, and texts with U+0000 in every place that takes a text.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { after, suite, test } from "node:test";
import { WebSocket } from "ws";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { createArrivals } from "../harness/arrivals.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const post = (path: string, body: object) => call(server, "POST", path, body);
const get = (path: string) => call(server, "GET", path);

async function newThread(): Promise<string> {
  return ((await post("/threads", {})).body as { readonly thread_id: string }).thread_id;
}

suite("members of the reference", PATIENCE, () => {
  test("next has one entry for each task of a fan-out, before and after an answer", async () => {
    const threadId = await newThread();
    await post(`/threads/${threadId}/runs/wait`, { assistant_id: "sends", input: { items: ["a", "b", "c"] } });
    const read = async () =>
      (await get(`/threads/${threadId}/state`)).body as {
        readonly next: unknown;
        readonly interrupts: { readonly id: string }[];
      };
    const state = await read();
    assert.deepEqual(state.next, ["review", "review", "review"]);
    const command = { resume: { [state.interrupts[0]?.id ?? ""]: "yes" } };
    await post(`/threads/${threadId}/runs/wait`, { assistant_id: "sends", command });
    assert.deepEqual((await read()).next, ["review", "review"]);
  });

  test("the storage of a thread: its bytes in all, by channel, and of pending writes", async () => {
    const threadId = await newThread();
    await post(`/threads/${threadId}/runs/wait`, { assistant_id: "steps", input: { visited: ["x".repeat(10_000)] } });
    const { status, body } = await get(`/threads/${threadId}/storage`);
    const {
      total_bytes: total,
      channel_values: channels,
      checkpoints,
      pending_writes: writes,
    } = body as {
      readonly total_bytes: number;
      readonly channel_values: Readonly<Record<string, number>>;
      readonly checkpoints: { readonly count: number; readonly bytes: number };
      readonly pending_writes: { readonly count: number; readonly bytes: number };
    };
    assert.equal(status, 200);
    assert.ok((channels["visited"] ?? 0) > 10_000);
    assert.equal(checkpoints.count, 5);
    const values = Object.values(channels).reduce((sum, bytes) => sum + bytes, 0);
    assert.equal(total, checkpoints.bytes + values + writes.bytes);
    assert.equal((await get(`/threads/${randomUUID()}/storage`)).status, 404);
  });

  test("ok names the parts of the process, and the database when it is asked for", async () => {
    assert.deepEqual((await get("/ok")).body, { ok: true, services: { api: "ok", queue: "ok" } });
    const { body } = await get("/ok?check_db=1");
    assert.deepEqual(body, { ok: true, services: { api: "ok", queue: "ok", database: "ok" } });
  });

  test("info names what clients ask before they rely on it", async () => {
    const { flags } = (await get("/info")).body as { readonly flags: Readonly<Record<string, boolean>> };
    assert.deepEqual([flags["strict_resume"], flags["stream_namespaces"]], [true, true]);
  });

  test("metrics as JSON have the same names as the text", async () => {
    const list = (await get("/metrics?format=json")).body as readonly {
      readonly name: string;
      readonly values: unknown;
    }[];
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? "");
    assert.deepEqual(new Set(list.map(({ name }) => name)), new Set(names));
    assert.ok(list.every(({ values }) => Array.isArray(values)));
    assert.equal((await get("/metrics?format=xml")).status, 422);
  });

  test("a subscription over a socket is told how many events from the past follow, and gets as many", async () => {
    const threadId = await newThread();
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/threads/${threadId}/stream/events`);
    const { list: frames, add, when } = createArrivals<Frame>();
    socket.on("message", (data) => add(JSON.parse((data as Buffer).toString("utf8")) as Frame));
    await once(socket, "open");
    const subscribe = async (id: number, channels: readonly string[]) => {
      socket.send(JSON.stringify({ id, method: "subscription.subscribe", params: { channels } }));
      return when(`the reply ${id}`, () => frames.find((frame) => frame.id === id));
    };
    assert.equal((await subscribe(1, ["values"])).result?.replayed_events, 0);
    socket.send(JSON.stringify({ id: 2, method: "run.start", params: { assistant_id: "steps", input: {} } }));
    await when("the last state", () => frames.find((frame) => frame.params?.data?.visited?.length === 3));
    const live = frames.filter(({ method }) => method === "values").length;
    frames.length = 0;
    const reply = await subscribe(3, ["values"]);
    assert.equal(reply.result?.replayed_events, live);
    await when("the replay", () => frames.filter(({ method }) => method === "values").length === live);
    socket.close();
    await once(socket, "close");
  });
});

interface Frame {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly replayed_events?: number };
  readonly params?: { readonly data?: { readonly visited?: readonly string[] } };
}

const NUL = "a\u0000b";

/** Place of a text → calls whose last reply has the text again. */
const PLACES: Readonly<Record<string, () => Promise<{ readonly status: number; readonly body: unknown }>>> = {
  "metadata of a thread": () => post("/threads", { metadata: { [NUL]: NUL } }),
  "a filter of threads by metadata": async () => {
    await post("/threads", { metadata: { [NUL]: [NUL] } });
    return post("/threads/search", { metadata: { [NUL]: [NUL] } });
  },
  "a filter of threads by values": async () => {
    await post("/runs/wait", { assistant_id: "steps", input: { visited: [NUL] }, on_completion: "keep" });
    const visited = [NUL, "node_a", "node_b", "node_c"];
    return post("/threads/search", { values: { visited } });
  },
  "words to search": async () => {
    await post("/threads", { metadata: { text: `findme ${NUL}` } });
    return post("/threads/search", { q: `findme ${NUL}` });
  },
  "input of a run": () => post("/runs/wait", { assistant_id: "steps", input: { visited: [NUL] } }),
  "metadata, config and context of a run": () =>
    post("/runs", {
      assistant_id: "steps",
      input: {},
      metadata: { [NUL]: NUL },
      config: { tags: [NUL] },
      context: { [NUL]: NUL },
    }),
  "state of a thread": async () => {
    const { thread_id: id } = (await post("/threads", { metadata: { graph_id: "steps" } })).body as {
      readonly thread_id: string;
    };
    await post(`/threads/${id}/state`, { values: { visited: [NUL] }, as_node: "node_a" });
    return get(`/threads/${id}/state`);
  },
  "metadata in a search of the history": async () => {
    const { thread_id: id } = (await post("/threads", {})).body as { readonly thread_id: string };
    await post(`/threads/${id}/runs/wait`, { assistant_id: "steps", input: {}, metadata: { mark: NUL } });
    return post(`/threads/${id}/history`, { metadata: { mark: NUL } });
  },
  "answer of a question": async () => {
    const { thread_id: id } = (await post("/threads", {})).body as { readonly thread_id: string };
    await post(`/threads/${id}/runs/wait`, { assistant_id: "echo", input: { payload: NUL } });
    return post(`/threads/${id}/runs/wait`, { assistant_id: "echo", command: { resume: NUL } });
  },
  "name, description, metadata and context of an assistant": async () => {
    await post("/assistants", {
      graph_id: "steps",
      name: NUL,
      description: NUL,
      metadata: { [NUL]: NUL },
      context: { a: NUL },
    });
    return post("/assistants/search", { name: NUL, metadata: { [NUL]: NUL } });
  },
  "value of a store item": async () => {
    const item = { namespace: ["nul"], key: "key", value: { [NUL]: NUL } };
    await call(server, "PUT", "/store/items", item);
    return post("/store/items/search", { namespace_prefix: ["nul"], filter: { [NUL]: NUL } });
  },
  "payload and metadata of a cron": async () => {
    const cron = { assistant_id: "steps", schedule: "0 0 1 1 *", input: { visited: [NUL] }, metadata: { [NUL]: NUL } };
    await post("/runs/crons", cron);
    return post("/runs/crons/search", { metadata: { [NUL]: NUL } });
  },
};

suite("U+0000 in a text (HOLDPOINT_TEST_STORAGE=postgres runs the same)", PATIENCE, () => {
  for (const [place, act] of Object.entries(PLACES)) {
    test(`${place}: kept`, async () => {
      const { status, body } = await act();
      assert.equal(status, 200, JSON.stringify(body));
      assert.ok(JSON.stringify(body).includes("a\\u0000b"), JSON.stringify(body));
    });
  }

  test("a namespace of the store with it: refused by name, on both storages", async () => {
    for (const [path, body] of [
      ["/store/items/search", { namespace_prefix: [NUL] }],
      ["/store/namespaces", { suffix: [NUL] }],
    ] as const) {
      const { status, body: problem } = await post(path, body);
      assert.deepEqual([status, (problem as { readonly code: string }).code], [422, "store_namespace_invalid"]);
    }
  });
});
