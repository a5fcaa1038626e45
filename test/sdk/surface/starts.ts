// Rows of the options of calls that start a run: the same options, in each of the four calls.
import type { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import {
  collect,
  documented,
  effects,
  inClient,
  isForkedAt,
  middle,
  newThread,
  pausedThread,
  type Bench,
  type Row,
  type ShownRun,
} from "./rows.ts";

type Method = "create" | "stream" | "wait" | "createBatch";
const METHODS: readonly Method[] = ["create", "stream", "wait", "createBatch"];

type Options = Omit<NonNullable<Parameters<Client["runs"]["create"]>[2]>, "streamMode"> & {
  readonly streamMode?: ("values" | "updates")[];
};

const WHOLE = ["node_a", "node_b", "node_c"];

/** Starts a run by the method, and waits for its end. @param threadId null for a thread of its own, which it keeps */
async function start(
  client: Client,
  method: Method,
  threadId: string | null,
  options: Options,
  graph = "steps",
): Promise<ShownRun> {
  const kept: Options = threadId === null ? { onCompletion: "continue", ...options } : options;
  const started = await begin(client, method, threadId, kept, graph);
  await client.runs.join(started.thread_id, started.run_id);
  return (await client.runs.get(started.thread_id, started.run_id)) as ShownRun;
}

interface Started {
  readonly run_id: string;
  readonly thread_id: string;
}

/** The type of a call with a thread has more options than one without: the server takes all of them with both. */
async function begin(
  client: Client,
  method: Method,
  id: string | null,
  options: Options,
  graph: string,
): Promise<Started> {
  const threadId = id as string;
  if (method === "create") return client.runs.create(threadId, graph, options);
  if (method === "createBatch") {
    const [run] = await client.runs.createBatch([
      { ...options, assistantId: graph, ...(id === null ? {} : { threadId: id }) },
    ]);
    if (run === undefined) throw new Error("no run");
    return run;
  }
  const created: { readonly run_id: string; readonly thread_id?: string }[] = [];
  const noted = {
    ...options,
    raiseError: false,
    onRunCreated: (run: (typeof created)[number]) => void created.push(run),
  } as object;
  if (method === "stream") await collect(client.runs.stream(threadId, graph, noted));
  else await client.runs.wait(threadId, graph, noted);
  const [{ run_id: runId, thread_id: own } = { run_id: "" }] = created;
  return { run_id: runId, thread_id: own ?? id ?? (await findThreadId(client, runId)) };
}

/** A call without a thread names the run alone. */
async function findThreadId(client: Client, runId: string): Promise<string> {
  const stream = client.runs.joinStream(null, runId, { lastEventId: "-1" });
  const [first] = await collect(stream);
  return String(first?.data.thread_id);
}

const readNext = async (client: Client, run: Started): Promise<readonly string[]> =>
  (await client.threads.getState(run.thread_id)).next;

/** One check for all four calls. */
function checks(method: Method): Readonly<Record<string, Row["check"]>> {
  const run = (client: Client, options: Options, threadId: string | null = null, graph = "steps"): Promise<ShownRun> =>
    start(client, method, threadId, options, graph);
  const kwargs =
    (options: Options, name: string, expected: unknown) =>
    async ({ client }: Bench) => {
      assert.deepEqual((await run(client, { input: {}, ...options })).kwargs[name], expected);
    };
  const isGone = async (client: Client, threadId: string): Promise<boolean> =>
    client.threads.get(threadId).then(
      () => false,
      () => true,
    );
  return {
    [method]: async ({ client }) => {
      const done = await run(client, { input: {} });
      assert.deepEqual((await client.threads.getState(done.thread_id)).values, { visited: WHOLE });
    },
    [`${method}.input`]: async ({ client }) => {
      const done = await run(client, { input: { visited: ["mine"] } });
      assert.deepEqual((await client.threads.getState(done.thread_id)).values, { visited: ["mine", ...WHOLE] });
    },
    [`${method}.metadata`]: async ({ client }) => {
      assert.equal((await run(client, { input: {}, metadata: { colour: "red" } })).metadata?.["colour"], "red");
    },
    [`${method}.config`]: async ({ client }) => {
      assert.equal((await run(client, { input: {}, config: { recursion_limit: 1 } })).status, "error");
    },
    [`${method}.context`]: kwargs({ context: { tone: "kind" } }, "context", { tone: "kind" }),
    [`${method}.checkpointId`]: async ({ client }) => {
      const { threadId, checkpointId } = await middle(client);
      await run(client, { input: null, checkpointId }, threadId);
      assert.ok(await isForkedAt(client, threadId, checkpointId));
    },
    [`${method}.checkpoint`]: async ({ client }) => {
      const { threadId, checkpointId } = await middle(client);
      const checkpoint = { checkpoint_ns: "", checkpoint_id: checkpointId, checkpoint_map: null };
      await run(client, { input: null, checkpoint }, threadId);
      assert.ok(await isForkedAt(client, threadId, checkpointId));
    },
    [`${method}.checkpointDuring`]: kwargs({ checkpointDuring: false }, "durability", "exit"),
    [`${method}.durability`]: async ({ client }) => {
      const { thread_id: id, kwargs: shown } = await run(client, { input: {}, durability: "exit" });
      assert.deepEqual([shown["durability"], (await client.threads.getHistory(id)).length], ["exit", 1]);
    },
    [`${method}.interruptBefore`]: async ({ client }) => {
      const paused = await run(client, { input: {}, interruptBefore: ["node_b"] });
      assert.deepEqual([paused.ended_by, await readNext(client, paused)], ["pause", ["node_b"]]);
    },
    [`${method}.interruptAfter`]: async ({ client }) => {
      const paused = await run(client, { input: {}, interruptAfter: "*" });
      assert.deepEqual([paused.ended_by, await readNext(client, paused)], ["pause", ["node_b"]]);
    },
    [`${method}.multitaskStrategy`]: async ({ client }) => {
      const threadId = await newThread(client);
      const first = await client.runs.create(threadId, "slow", { input: { waitMs: 60_000 } });
      await assert.rejects(run(client, { input: {}, multitaskStrategy: "reject" }, threadId), /HTTP 409/);
      const second = await run(client, { input: { waitMs: 0 }, multitaskStrategy: "interrupt" }, threadId, "slow");
      const replaced = (await client.runs.get(threadId, first.run_id)) as ShownRun;
      assert.deepEqual([second.status, replaced.ended_by], ["success", "cancel"]);
      assert.match(replaced.cancel_reason ?? "", /^replaced:/);
    },
    [`${method}.onCompletion`]: async ({ client }) => {
      const own = await newThread(client);
      await run(client, { input: {}, onCompletion: "complete" }, own);
      assert.equal(await isGone(client, own), false, "a thread of the caller stays");
      const { thread_id: id } = await run(client, { input: {}, onCompletion: "continue" });
      assert.equal(await isGone(client, id), false);
    },
    [`${method}.webhook`]: async ({ client, receiver }) => {
      const sent = await run(client, { input: {}, webhook: `${receiver.url}/${method}` });
      assert.equal((await receiver.waitFor(`/${method}`))["run_id"], sent.run_id);
    },
    [`${method}.afterSeconds`]: kwargs({ afterSeconds: 0.01 }, "after_seconds", 0.01),
    [`${method}.ifNotExists`]: async ({ client }) => {
      const threadId = crypto.randomUUID();
      await assert.rejects(run(client, { input: {}, ifNotExists: "reject" }, threadId), /HTTP 404/);
      assert.equal((await run(client, { input: {}, ifNotExists: "create" }, threadId)).thread_id, threadId);
    },
    [`${method}.command`]: async ({ client }) => {
      const threadId = await pausedThread(client);
      await run(client, { command: { resume: "yes" } }, threadId, "echo");
      const { values } = await client.threads.getState<{ readonly answer: unknown }>(threadId);
      assert.deepEqual(values.answer, ["yes"]);
    },
    [`${method}.strictResume`]: async ({ client }) => {
      const threadId = await pausedThread(client);
      const resume = { ["0".repeat(32)]: "yes" };
      await assert.rejects(
        run(client, { command: { resume }, strictResume: true }, threadId, "echo"),
        /HTTP 4(09|22).*interrupt_(unknown|stale)/s,
      );
      assert.equal((await client.threads.get(threadId)).status, "interrupted");
    },
  };
}

const STREAM_OPTIONS: readonly Method[] = ["create", "stream", "createBatch"];

/** What a run streams is kept with it; `wait` declares these options, and does not send them. */
function streamChecks(method: Method): Readonly<Record<string, Row["check"]>> {
  const kept =
    (options: Options, name: string, expected: unknown) =>
    async ({ client }: Bench) => {
      assert.deepEqual((await start(client, method, null, { input: {}, ...options })).kwargs[name], expected);
    };
  return {
    [`${method}.streamMode`]: kept({ streamMode: ["updates", "values"] }, "stream_mode", ["updates", "values"]),
    [`${method}.streamSubgraphs`]: kept({ streamSubgraphs: true }, "subgraphs", true),
    [`${method}.streamResumable`]: kept({ streamResumable: true }, "resumable", true),
  };
}

const VALUE = "of-no-other-option";

function unsent(call: (client: Client) => unknown): Row {
  return {
    how: "unsent",
    check: async (bench) => {
      const sent = await bench.listRequests(call);
      assert.ok(sent.length > 0);
      assert.ok(!sent.includes(VALUE), sent);
    },
  };
}

const disconnects =
  (method: "stream" | "wait") =>
  async ({ client }: Bench) => {
    const threadId = await newThread(client);
    const leaving = new AbortController();
    const options = { input: { waitMs: 60_000 }, onDisconnect: "cancel", signal: leaving.signal } as const;
    const left = (async (): Promise<void> => {
      if (method === "wait") return void (await client.runs.wait(threadId, "slow", options));
      await collect(client.runs.stream(threadId, "slow", options));
    })();
    const watched = client.threads.joinStream(threadId, { lastEventId: "-1" });
    const first = await watched.next(); // the run has begun
    leaving.abort();
    await assert.rejects(left);
    const runId = String(first.value?.data.run_id);
    await client.runs.join(threadId, runId);
    await watched.return(undefined);
    const { ended_by: endedBy, cancel_reason: reason } = (await client.runs.get(threadId, runId)) as ShownRun;
    assert.equal(endedBy, "cancel");
    assert.match(reason ?? "", /^disconnected:/);
  };

const cast = (options: object): object => options;

const TRACER = { _langsmithTracer: { projectName: VALUE, exampleId: VALUE } };

export const START_ROWS: readonly [string, Row][] = [
  ...METHODS.flatMap((method) => effects("runs", checks(method))),
  ...STREAM_OPTIONS.flatMap((method) => effects("runs", streamChecks(method))),
  ...effects("runs", {
    "createBatch.assistantId": async ({ client }) => {
      const [run] = await client.runs.createBatch([{ assistantId: "steps", input: {} }]);
      assert.equal(run?.metadata?.["graph_id"], "steps");
    },
    "stream.onDisconnect": disconnects("stream"),
    "wait.onDisconnect": disconnects("wait"),
    // A run in the background has no connection to lose.
    "createBatch.onDisconnect": async ({ client }) => {
      assert.equal((await start(client, "createBatch", null, { input: {}, onDisconnect: "cancel" })).status, "success");
    },
    "stream.streamNamespaces": async ({ client }) => {
      const options = { input: {}, streamMode: ["updates" as const], streamSubgraphs: true };
      const namesWith = async (streamNamespaces?: string[]) =>
        (
          await collect(
            client.runs.stream(null, "nested_parallel", {
              ...options,
              ...(streamNamespaces ? { streamNamespaces } : {}),
            }),
          )
        ).map(({ event }) => event);
      assert.ok((await namesWith()).some((name) => name.includes("|")));
      assert.ok((await namesWith([""])).every((name) => !name.includes("|")));
      assert.deepEqual(await namesWith(["no such graph"]), ["metadata"]);
    },
  }),
  ...STREAM_OPTIONS.map((method) =>
    documented(`runs.${method}.feedbackKeys`, "feedback_keys", async ({ client }) => {
      const run = await start(client, method, null, { input: {}, feedbackKeys: ["score"] });
      const events = await collect(client.runs.joinStream(run.thread_id, run.run_id, { lastEventId: "-1" }));
      assert.deepEqual([run.status, events.some(({ event }) => event === "feedback")], ["success", false]);
    }),
  ),
  ...(["create", "wait", "createBatch"] as const).map((method) =>
    documented(`runs.${method}._langsmithTracer`, "langsmith_tracer", async ({ client }) => {
      assert.equal((await start(client, method, null, { input: {}, ...cast(TRACER) })).status, "success");
    }),
  ),
  ["runs.stream._langsmithTracer", unsent(({ runs }) => collect(runs.stream(null, "steps", cast(TRACER))))],
  ["runs.create.onDisconnect", unsent(({ runs }) => runs.create(null, "steps", cast({ onDisconnect: VALUE })))],
  ...["streamMode", "streamSubgraphs", "streamResumable", "streamNamespaces", "feedbackKeys"].map(
    (name): [string, Row] => [
      `runs.wait.${name}`,
      unsent(({ runs }) => runs.wait(null, "steps", cast({ [name]: VALUE }))),
    ],
  ),
  ...inClient(
    METHODS.map((method) => `runs.${method}`),
    ["signal", "onRunCreated"],
  ),
  ...inClient(["runs.stream", "runs.wait"], ["streamIdleReconnect"]),
  ...inClient(["runs.wait"], ["raiseError"]),
];
