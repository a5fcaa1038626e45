// Rows of the handle that `client.threads.stream()` returns: its commands, and what it shows of a run.
import type { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createArrivals } from "../../harness/arrivals.ts";
import {
  type Bench,
  collect,
  documented,
  effects,
  inClient,
  isForkedAt,
  middle,
  newThread,
  pausedThread,
  ran,
  type Row,
  type ShownRun,
} from "./rows.ts";

type Stream = ReturnType<Client["threads"]["stream"]>;
type StreamRow = Row<Pick<Bench, "client">>;
type Checks = Readonly<Record<string, StreamRow["check"]>>;

const WHOLE = ["node_a", "node_b", "node_c"];
const NOWHERE = "0".repeat(32);

async function withStream<T>(
  client: Client,
  assistantId: string,
  use: (stream: Stream, threadId: string) => Promise<T>,
  threadId: string = randomUUID(),
): Promise<T> {
  const stream = client.threads.stream(threadId, { assistantId });
  try {
    return await use(stream, threadId);
  } finally {
    await stream.close();
  }
}

/** What the protocol says of a refusal. */
const refuses = (call: Promise<unknown>, code: string): Promise<void> =>
  assert.rejects(call, (error: { readonly code?: string }) => error.code === code);

async function joinNewest(client: Client, threadId: string): Promise<ShownRun> {
  const [run] = await client.runs.list(threadId, { limit: 1 });
  await client.runs.join(threadId, run?.run_id ?? "");
  return (await client.runs.get(threadId, run?.run_id ?? "")) as ShownRun;
}

type Params = Parameters<Stream["submitRun"]>[0];

/** The two calls that start a run take the same options. */
function starts(name: string, call: (stream: Stream, params: Params) => Promise<{ readonly run_id?: string }>): Checks {
  const start = (client: Client, params: Params, threadId?: string, graph = "steps"): Promise<ShownRun> =>
    withStream(
      client,
      graph,
      async (stream, id) => {
        const { run_id: runId = "" } = await call(stream, params);
        await client.runs.join(id, runId);
        return (await client.runs.get(id, runId)) as ShownRun;
      },
      threadId,
    );
  return {
    [name]: async ({ client }) => assert.equal((await start(client, { input: {} })).status, "success"),
    [`${name}.input`]: async ({ client }) => {
      const { thread_id: id } = await start(client, { input: { visited: ["mine"] } });
      assert.deepEqual((await client.threads.getState(id)).values, { visited: ["mine", ...WHOLE] });
    },
    [`${name}.config`]: async ({ client }) => {
      assert.equal((await start(client, { input: {}, config: { recursion_limit: 1 } })).status, "error");
    },
    [`${name}.metadata`]: async ({ client }) => {
      assert.equal((await start(client, { input: {}, metadata: { colour: "red" } })).metadata?.["colour"], "red");
    },
    [`${name}.forkFrom`]: async ({ client }) => {
      const { threadId, checkpointId } = await middle(client);
      await start(client, { input: null, forkFrom: checkpointId }, threadId);
      assert.ok(await isForkedAt(client, threadId, checkpointId));
    },
    [`${name}.multitaskStrategy`]: async ({ client }) => {
      const id = await newThread(client);
      const first = await client.runs.create(id, "slow", { input: { waitMs: 60_000 } });
      await refuses(start(client, { input: {}, multitaskStrategy: "reject" }, id, "slow"), "invalid_argument");
      await start(client, { input: { waitMs: 0 }, multitaskStrategy: "interrupt" }, id, "slow");
      assert.equal(((await client.runs.get(id, first.run_id)) as ShownRun).ended_by, "cancel");
    },
  };
}

type Answer = Parameters<Stream["respondInput"]>[0];

/** The two calls that answer take the same members. */
function answers(name: string, call: (stream: Stream, answer: Answer) => Promise<void>): Checks {
  const answer = async (
    client: Client,
    { threadId, ...more }: { readonly threadId: string } & Record<string, unknown>,
    graph = "echo",
  ): Promise<ShownRun> => {
    const [interrupt] = Object.values((await client.threads.get(threadId)).interrupts).flat();
    const given = { namespace: [], interrupt_id: interrupt?.id ?? "", response: "yes", ...more };
    await withStream(client, graph, (stream) => call(stream, given as Answer), threadId);
    return joinNewest(client, threadId);
  };
  const readValues = async (client: Client, id: string) =>
    (await client.threads.getState<Readonly<Record<string, unknown>>>(id)).values;
  const isTaken = async ({ client }: Pick<Bench, "client">): Promise<void> => {
    const { thread_id: id } = await answer(client, { threadId: await pausedThread(client) });
    assert.deepEqual((await readValues(client, id))["answer"], ["yes"]);
  };
  return {
    [name]: isTaken,
    [`${name}.response`]: isTaken,
    // The id alone names the question, as in the reference.
    [`${name}.namespace`]: async ({ client }) => {
      const run = await answer(client, { threadId: await pausedThread(client), namespace: ["elsewhere"] });
      assert.equal(run.status, "success");
    },
    [`${name}.interrupt_id`]: async ({ client }) => {
      const threadId = await pausedThread(client);
      await refuses(answer(client, { threadId, interrupt_id: NOWHERE }), "no_such_interrupt");
      assert.equal((await client.threads.get(threadId)).status, "interrupted");
    },
    [`${name}.responses`]: async ({ client }) => {
      const threadId = await newThread(client);
      await client.runs.wait(threadId, "parallel", { input: {} });
      const { interrupts } = await client.threads.get(threadId);
      const responses = Object.values(interrupts)
        .flat()
        .map(({ id }) => ({ namespace: [], interrupt_id: id ?? "", response: 1 }));
      assert.equal(responses.length, 3);
      await withStream(client, "parallel", (stream) => call(stream, { responses }), threadId);
      assert.equal((await joinNewest(client, threadId)).status, "success");
    },
    [`${name}.update`]: async ({ client }) => {
      const threadId = await newThread(client);
      await client.runs.wait(threadId, "asks_then_speaks", { input: {} });
      await answer(client, { threadId, update: { events: 7 } }, "asks_then_speaks");
      const { events, answer: given } = await readValues(client, threadId);
      assert.deepEqual([events, given], [7, "yes"]);
    },
    [`${name}.goto`]: async ({ client }) => {
      const threadId = await newThread(client);
      await client.runs.wait(threadId, "asks_then_speaks", { input: {} });
      await answer(client, { threadId, goto: "speaks" }, "asks_then_speaks");
      const said = (await readValues(client, threadId))["messages"] as readonly unknown[];
      assert.equal(said.length, 2, "once by the goto, and once in its turn");
    },
    [`${name}.config`]: async ({ client }) => {
      const run = await answer(client, { threadId: await pausedThread(client), config: { tags: ["mine"] } });
      assert.deepEqual((run.kwargs["config"] as { readonly tags: unknown }).tags, ["mine"]);
    },
    [`${name}.metadata`]: async ({ client }) => {
      const run = await answer(client, { threadId: await pausedThread(client), metadata: { colour: "red" } });
      assert.equal(run.metadata?.["colour"], "red");
    },
  };
}

const nested = async (client: Client): Promise<string> => {
  const threadId = await newThread(client);
  await client.runs.wait(threadId, "nested_parallel", { input: {} });
  return threadId;
};

/** `state` and `agent` */
const READS: Checks = {
  "state.get": async ({ client }) => {
    const { values } = await withStream(
      client,
      "steps",
      (stream) => stream.state.get({ namespace: [] }),
      await ran(client),
    );
    assert.deepEqual(values, { visited: WHOLE });
  },
  "state.get.namespace": async ({ client }) => {
    const read = (stream: Stream) => stream.state.get({ namespace: ["left"] });
    const { checkpoint } = await withStream(client, "nested_parallel", read, await nested(client));
    assert.match(checkpoint?.ns ?? "", /^left:/);
    await refuses(withStream(client, "steps", read, await ran(client)), "no_such_namespace");
  },
  "state.get.keys": async ({ client }) => {
    const read = (stream: Stream) => stream.state.get({ namespace: [], keys: ["other"] });
    assert.deepEqual((await withStream(client, "steps", read, await ran(client))).values, {});
  },
  "state.listCheckpoints": async ({ client }) => {
    const list = (stream: Stream) => stream.state.listCheckpoints({});
    assert.equal((await withStream(client, "steps", list, await ran(client))).checkpoints.length, 5);
  },
  "state.listCheckpoints.namespace": async ({ client }) => {
    const threadId = await nested(client);
    const list = (namespace: string[]) =>
      withStream(client, "nested_parallel", (stream) => stream.state.listCheckpoints({ namespace }), threadId);
    const [root, left] = [await list([]), await list(["left"])];
    assert.ok(left.checkpoints.length > 0);
    assert.ok(!root.checkpoints.some(({ id }) => left.checkpoints.some((one) => one.id === id)));
  },
  "state.listCheckpoints.limit": async ({ client }) => {
    const list = (stream: Stream) => stream.state.listCheckpoints({ limit: 2 });
    assert.equal((await withStream(client, "steps", list, await ran(client))).checkpoints.length, 2);
  },
  "state.listCheckpoints.before": async ({ client }) => {
    await withStream(
      client,
      "steps",
      async (stream) => {
        const { checkpoints } = await stream.state.listCheckpoints({});
        const [first, ...others] = checkpoints.map(({ id }) => id);
        const before = await stream.state.listCheckpoints({ before: first ?? "" });
        assert.deepEqual(
          before.checkpoints.map(({ id }) => id),
          others,
        );
      },
      await ran(client),
    );
  },
  "agent.getTree": async ({ client }) => {
    const { tree } = await withStream(
      client,
      "nested_parallel",
      (stream) => stream.agent.getTree(),
      await nested(client),
    );
    assert.deepEqual([tree.graph_name, tree.status], ["nested_parallel", "interrupted"]);
  },
  "agent.getTree.run_id": async ({ client }) => {
    const threadId = await ran(client);
    const [run] = await client.runs.list(threadId);
    const read = (run_id: string) =>
      withStream(client, "steps", (stream) => stream.agent.getTree({ run_id }), threadId);
    assert.equal((await read(run?.run_id ?? "")).tree.status, "completed");
    await refuses(read(randomUUID()), "no_such_run");
  },
};

type Fork = Parameters<Stream["state"]["fork"]>[0];

const fork = async (client: Client, more: Partial<Fork>) => {
  const { threadId, checkpointId } = await middle(client);
  const start = (stream: Stream) => stream.state.fork({ checkpoint_id: checkpointId, ...more });
  const { run_id: runId } = await withStream(client, "steps", start, threadId);
  await client.runs.join(threadId, runId);
  return { threadId, checkpointId, run: await client.runs.get(threadId, runId) };
};

const FORKS: Checks = {
  "state.fork": async ({ client }) => assert.equal((await fork(client, {})).run.status, "success"),
  "state.fork.checkpoint_id": async ({ client }) => {
    const { threadId, checkpointId } = await fork(client, {});
    assert.ok(await isForkedAt(client, threadId, checkpointId));
    await refuses(fork(client, { checkpoint_id: randomUUID() }), "no_such_checkpoint");
  },
  "state.fork.input": async ({ client }) => {
    const { threadId } = await fork(client, { input: { visited: ["mine"] } });
    const { values } = await client.threads.getState<{ readonly visited: readonly string[] }>(threadId);
    assert.ok(values.visited.includes("mine"));
  },
  "state.fork.config": async ({ client }) => {
    const { run } = await fork(client, { input: { visited: [] }, config: { recursion_limit: 1 } });
    assert.equal(run.status, "error");
  },
};

/** A run from its begin to its end, with what the handle shows of it. */
const shows =
  <T>(graph: string, input: object, read: (stream: Stream) => Promise<T>, expected: T): StreamRow["check"] =>
  ({ client }) =>
    withStream(client, graph, async (stream) => {
      const shown = read(stream);
      await stream.run.start({ input });
      assert.deepEqual(await shown, expected);
    });

const calls = (name: string, args: object): object => ({ calls: [{ id: "one", name, args }] });
const mediaTypes =
  (kind: "audio" | "images" | "video" | "files") =>
  async (stream: Stream): Promise<readonly unknown[]> =>
    (await collect<{ readonly mimeType?: string }>(stream[kind])).map(({ mimeType }) => mimeType);

const awaitQuestion = async (stream: Stream): Promise<readonly unknown[]> => {
  const events = createArrivals<string>();
  stream.onEvent((event) => events.add(event.method));
  await events.when("the pause", () => stream.interrupted && stream.interrupts.length > 0);
  return [stream.interrupted, stream.interrupts.map(({ payload }) => payload)];
};

const subscribe =
  (params: Parameters<Stream["subscribe"]>[0], isAsked: (namespace: readonly string[], method: string) => boolean) =>
  ({ client }: Pick<Bench, "client">): Promise<void> =>
    withStream(client, "teller", async (stream) => {
      const subscription = await stream.subscribe(params);
      const seen: boolean[] = [];
      const reading = (async () => {
        for await (const { method, params: place } of subscription) seen.push(isAsked(place.namespace, method));
      })();
      await stream.run.start({ input: {} });
      await stream.output;
      await subscription.unsubscribe();
      await reading;
      assert.ok(seen.length > 0 && seen.every(Boolean));
    });

const readContent = (message: unknown): unknown => (message as { readonly content?: unknown }).content;

const SHOWN: Checks = {
  messages: shows(
    "teller",
    {},
    async (stream) => Promise.all((await collect(stream.messages)).map(({ text }) => text)),
    ["Hi!"],
  ),
  values: shows("steps", {}, async (stream) => (await collect(stream.values)).at(-1), { visited: WHOLE }),
  output: shows("steps", {}, (stream) => stream.output, { visited: WHOLE }),
  toolCalls: shows(
    "tooled",
    calls("search", { text: "ham" }),
    // The client yields a call at its start and at its end.
    async (stream) => {
      const all = (await collect(stream.toolCalls)).map(async ({ name, output }) => `${name}: ${String(await output)}`);
      return [...new Set(await Promise.all(all))];
    },
    ["search: found ham"],
  ),
  subgraphs: shows(
    "teller",
    {},
    async (stream) => (await collect(stream.subgraphs)).some(({ name }) => name === "inner"),
    true,
  ),
  subagents: shows(
    "tooled",
    calls("task", { description: "dig", subagent_type: "helper" }),
    async (stream) =>
      Promise.all((await collect(stream.subagents)).map(async ({ name, output }) => [name, readContent(await output)])),
    [["helper", "Did dig."]],
  ),
  audio: shows("spoken", {}, mediaTypes("audio"), ["audio/mpeg"]),
  images: shows("spoken", {}, mediaTypes("images"), ["image/png"]),
  video: shows("spoken", {}, mediaTypes("video"), ["video/mp4"]),
  files: shows("spoken", {}, mediaTypes("files"), ["application/pdf"]),
  extensions: shows(
    "extended",
    {},
    async (stream) => [await stream.extensions["progress"], await stream.extensions["sum"]],
    [2, 2],
  ),
  interrupted: shows("echo", { payload: "sure?" }, async (stream) => (await awaitQuestion(stream))[0], true),
  interrupts: shows("echo", { payload: "sure?" }, async (stream) => (await awaitQuestion(stream))[1], ["sure?"]),
  onEvent: shows(
    "steps",
    {},
    async (stream) => {
      const methods = createArrivals<string>();
      stream.onEvent(({ method }) => methods.add(method));
      return methods.when("a state", (all) => all.includes("values"));
    },
    true,
  ),
  startLifecycleWatcher: async ({ client }) => {
    const watch = async (stream: Stream): Promise<readonly unknown[]> => {
      stream.startLifecycleWatcher();
      return awaitQuestion(stream);
    };
    const [, payloads] = await withStream(client, "echo", watch, await pausedThread(client));
    assert.deepEqual(payloads, ["?"]);
  },
  subscribe: subscribe({ channels: ["values"] }, (_, method) => method === "values"),
  "subscribe.channels": subscribe({ channels: ["updates"] }, (_, method) => method === "updates"),
  "subscribe.namespaces": subscribe(
    { channels: ["lifecycle", "updates"], namespaces: [["inner"]] },
    ([node]) => node?.startsWith("inner:") === true,
  ),
  "subscribe.depth": subscribe({ channels: ["lifecycle"], namespaces: [[]], depth: 0 }, ({ length }) => length === 0),
};

export const STREAM_ROWS: readonly [string, StreamRow][] = [
  ...effects<Pick<Bench, "client">>("stream", {
    ...starts("run.start", (stream, params) => stream.run.start(params as Parameters<Stream["run"]["start"]>[0])),
    ...starts("submitRun", (stream, params) => stream.submitRun(params)),
    ...answers("input.respond", (stream, answer) => stream.input.respond(answer)),
    ...answers("respondInput", (stream, answer) => stream.respondInput(answer)),
    "respondInput.strictResume": async ({ client }) => {
      const answer = { namespace: [], interrupt_id: NOWHERE, response: 1 };
      const respond = (stream: Stream) => stream.respondInput(answer, { strictResume: true });
      await refuses(withStream(client, "echo", respond, await pausedThread(client)), "no_such_interrupt");
    },
    ...READS,
    ...FORKS,
    ...SHOWN,
  }),
  documented<Pick<Bench, "client">>("stream.run.start.langsmith_tracer", "langsmith_tracer", async ({ client }) => {
    const start = (stream: Stream) => stream.run.start({ input: {}, langsmith_tracer: { project_name: "p" } });
    assert.ok((await withStream(client, "steps", start)).run_id !== "");
  }),
  ...["inject", "inject.namespace", "inject.message"].map((name): [string, StreamRow] => [
    `stream.input.${name}`,
    {
      how: "refused",
      check: async ({ client }) => {
        const message = { role: "user", content: "hello" } as const;
        const inject = (stream: Stream) => stream.input.inject({ namespace: [], message });
        await refuses(withStream(client, "echo", inject, await pausedThread(client)), "not_supported");
      },
    },
  ]),
  ...inClient(["stream"], ["threadId", "assistantId", "ordering", "onError", "close"]),
];
