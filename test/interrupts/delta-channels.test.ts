// Values that the library rebuilds from writes (DeltaChannel), on the server and in process with MemorySaver. Checked:
//   delta-channels.1. The state, the thread, its history and what a run answers are the same on both, after every call and a kill -9.
//   delta-channels.2. Pruning keeps what such a value is rebuilt from, and deletes the rest.
import { Command, MemorySaver } from "@langchain/langgraph";
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { compileWriters } from "../graphs/delta/writers.ts";
import { call, removeFolder, ROOT, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";

const config = join(ROOT, "test", "graphs", "delta", "langgraph.json");

interface StateBody {
  readonly values: unknown;
  readonly checkpoint: { readonly checkpoint_id: string };
}

interface Pair {
  server: TestServer;
  readonly threadId: string;
  readonly local: ReturnType<typeof compileWriters>;
  readonly durability: "async" | "sync" | "exit";
}

/** `DeltaChannel` gives an empty list before its first write; a channel that holds nothing is left out by both. */
const plain = (values: unknown): unknown => JSON.parse(JSON.stringify(values)) as unknown;
const localConfig = ({ threadId, durability }: Pair) => ({ configurable: { thread_id: threadId }, durability });

async function run(pair: Pair, body: object, input: Parameters<Pair["local"]["invoke"]>[0]): Promise<void> {
  const path = `/threads/${pair.threadId}/runs/wait`;
  const answer = await call(pair.server, "POST", path, {
    assistant_id: "writers",
    durability: pair.durability,
    ...body,
  });
  const expected = plain(await pair.local.invoke(input, localConfig(pair))) as Record<string, unknown>;
  const { __interrupt__: asked, ...values } = answer.body as Record<string, unknown>;
  const { __interrupt__: expectedAsked, ...expectedValues } = expected;
  assert.deepEqual(values, expectedValues);
  assert.equal(asked === undefined, expectedAsked === undefined);
  await compare(pair);
}

async function stateOf({ server, threadId }: Pair): Promise<StateBody> {
  return (await call(server, "GET", `/threads/${threadId}/state`)).body;
}

async function compare(pair: Pair): Promise<void> {
  const expected = plain((await pair.local.getState(localConfig(pair))).values);
  assert.deepEqual((await stateOf(pair)).values, expected);
  const thread = (await call(pair.server, "GET", `/threads/${pair.threadId}`)).body as { readonly values: unknown };
  assert.deepEqual(thread.values, expected);
}

async function historyOf({ server, threadId }: Pair): Promise<readonly StateBody[]> {
  return (await call(server, "GET", `/threads/${threadId}/history?limit=1000`)).body;
}

async function compareHistory(pair: Pair): Promise<void> {
  const states = (await historyOf(pair)).map(({ values }) => values);
  const expected = (await Array.fromAsync(pair.local.getStateHistory(localConfig(pair)))).map(({ values }) => values);
  assert.deepEqual(states, plain(expected));
}

async function killed(pair: Pair): Promise<void> {
  const { dataDir } = pair.server;
  await pair.server.kill();
  pair.server = await startServer({ config, dataDir });
  await compare(pair);
}

async function edit(pair: Pair, values: object, asNode: string): Promise<void> {
  const path = `/threads/${pair.threadId}/state`;
  assert.equal((await call(pair.server, "POST", path, { values, as_node: asNode })).status, 200);
  await pair.local.updateState(localConfig(pair), values, asNode);
  await compare(pair);
}

async function pruned(pair: Pair): Promise<void> {
  const body = { thread_ids: [pair.threadId], strategy: "keep_latest" };
  assert.equal((await call(pair.server, "POST", "/threads/prune", body)).status, 200);
  await compare(pair);
}

async function opened(durability: Pair["durability"]): Promise<Pair> {
  const server = await startServer({ config, dataDir: temporaryFolder() });
  const threadId = ((await call(server, "POST", "/threads", {})).body as { readonly thread_id: string }).thread_id;
  return { server, threadId, local: compileWriters(new MemorySaver()), durability };
}

for (const durability of ["async", "sync", "exit"] as const) {
  test(`DeltaChannels hold what they hold in process: durability ${durability} (delta-channels.1, delta-channels.2)`, async () => {
    const pair = await opened(durability);
    try {
      const input = { items: ["first"], seldom: ["once"] };
      await run(pair, { input }, input);
      await killed(pair);
      for (let round = 0; round < 3; round++) {
        await run(pair, { command: { resume: round } }, new Command({ resume: round }));
        await run(pair, { input: { items: [`input ${round}`] } }, { items: [`input ${round}`] });
        if (round === 1) await killed(pair);
      }
      await compareHistory(pair);
      await edit(pair, { items: ["edited"] }, "ask");
      await run(pair, { input: { items: ["more"] } }, { items: ["more"] });
      const before = (await historyOf(pair)).length;
      await pruned(pair);
      assert.ok((await historyOf(pair)).length < before);
      await killed(pair);
      await run(pair, { command: { resume: "last" } }, new Command({ resume: "last" }));
      await pruned(pair);
      await run(pair, { input: { items: ["after"] } }, { items: ["after"] });
      const { body: copy } = await call(pair.server, "POST", `/threads/${pair.threadId}/copy`);
      const { thread_id: threadId } = copy as { readonly thread_id: string };
      assert.deepEqual((await stateOf({ ...pair, threadId })).values, (await stateOf(pair)).values);
    } finally {
      await pair.server.kill();
      removeFolder(pair.server.dataDir);
    }
  });
}
