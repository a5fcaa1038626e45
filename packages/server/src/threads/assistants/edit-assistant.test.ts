// Test of the limits of assistants, with real storage: the names of graphs, the number of versions, the number of
// assistants.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openStorage } from "../../../../../test/harness/storage/sqlite-storage.ts";
import type { AgentContext } from "../../context/context.ts";
import { ANONYMOUS, GRANTED } from "../../auth/authorize.ts";
import {
  type AssistantDraft,
  createAssistant,
  listVersions,
  patchAssistant,
  setLatestVersion,
} from "./edit-assistant.ts";
import { countAssistants, getAssistant, registerGraphs } from "./assistants.ts";
import { builtInAssistantId } from "../../model/built-in-assistant.ts";
import type { GraphDescription } from "../../ports/ports.ts";
import { NO_TTL } from "../new-thread.ts";

const describe = (graphId: string): GraphDescription => ({
  graphId,
  description: `The graph ${graphId}`,
  nodeNames: [],
  fingerprint: { hash: graphId, graphId, nodes: {}, channels: {}, outputs: [] },
});

/** As far as assistants need one: these graphs are deployed. */
type Small = Pick<AgentContext, "storage" | "clock" | "newId" | "limits" | "graphs">;

async function start(
  t: TestContext,
  assistantsMax = 100,
): Promise<(...graphIds: readonly string[]) => Promise<AgentContext>> {
  const storage = await openStorage(t);
  let now = 0;
  const clock = { now: () => ++now, monotonic: () => now, after: () => () => undefined };
  return async (...graphIds) => {
    const graphs = {
      loadProblem: () => null,
      list: () => graphIds.map(describe),
      describe: (graphId: string) => (graphIds.includes(graphId) ? describe(graphId) : null),
    } as unknown as AgentContext["graphs"];
    const small: Small = {
      storage,
      clock,
      newId: () => crypto.randomUUID(),
      limits: { assistantsMax, cronsMax: 1, memberBytesMax: 1024, answerBytesMax: 1024, threadTtl: NO_TTL },
      graphs,
    };
    const agent = small as AgentContext;
    await registerGraphs(agent);
    return agent;
  };
}

const draft = (graphId: string, changes: Partial<AssistantDraft> = {}): AssistantDraft => ({
  assistantId: null,
  graphId,
  name: "n",
  description: null,
  metadata: {},
  config: {},
  context: {},
  ifExists: "raise",
  ...changes,
});

const caller = ANONYMOUS;
const ANYONE = { caller, scope: null };

const ALL = { scope: null, graphId: null, name: null, metadata: null };

test("the built-in assistant of a graph is created once, and keeps callers' changes", async (t) => {
  const deploy = await start(t);
  const agent = await deploy("a", "b");
  assert.deepEqual((await getAssistant(agent, "a")).description, "The graph a");
  await patchAssistant(agent, ANYONE, "a", { context: { tone: "kind" } });
  const again = await deploy("a", "b");
  const kept = await getAssistant(again, "a");
  assert.deepEqual([kept.context, kept.version, kept.graphId], [{ tone: "kind" }, 2, "a"]);
  const versions = await listVersions(again, "a", { metadata: null, limit: 10, offset: 0 });
  assert.equal((await Array.fromAsync(versions)).length, 2);
});

test("the name of a graph resolves to it, even if another assistant already has its id (assistants.1)", async (t) => {
  const deploy = await start(t);
  const assistantId = builtInAssistantId("later");
  await createAssistant(await deploy("a"), { ...ANYONE, readable: null }, draft("a", { assistantId }));
  const agent = await deploy("a", "later");
  const { graphId, name, version } = await getAssistant(agent, "later");
  assert.deepEqual([graphId, name, version], ["later", "later", 1]);
});

test("hides assistants of a removed graph, and lists them again with it (assistants.2)", async (t) => {
  const deploy = await start(t);
  const first = await deploy("a", "b");
  const { assistantId } = await createAssistant(first, { ...ANYONE, readable: null }, draft("b"));
  const without = await deploy("a");
  await assert.rejects(getAssistant(without, assistantId), { code: "assistant_not_found" });
  await assert.rejects(patchAssistant(without, ANYONE, "a", { graphId: "b" }), { code: "graph_not_found" });
  assert.equal(await countAssistants(without, ALL), 1);
  assert.equal(await countAssistants(await deploy("a", "b"), ALL), 3);
});

test("an assistant cannot return to a removed graph", async (t) => {
  const deploy = await start(t);
  const { assistantId } = await createAssistant(await deploy("a", "b"), { ...ANYONE, readable: null }, draft("b"));
  await patchAssistant(await deploy("a", "b"), ANYONE, assistantId, { graphId: "a" });
  await assert.rejects(setLatestVersion(await deploy("a"), assistantId, { ...ANYONE, version: 1, right: GRANTED }), {
    code: "graph_not_found",
  });
});

test("the newest 1,000 versions are kept, and the one in use is among them (edit-assistant.1)", async (t) => {
  const agent = await (await start(t))("a");
  const { assistantId } = await createAssistant(agent, { ...ANYONE, readable: null }, draft("a"));
  for (let at = 0; at < 10; at++)
    await Promise.all(Array.from({ length: 100 }, () => patchAssistant(agent, ANYONE, assistantId, {})));
  const all = { metadata: null, limit: 2000, offset: 0 };
  const newest = await Array.fromAsync(await listVersions(agent, assistantId, all));
  assert.deepEqual([newest.length, newest.at(0)?.version, newest.at(-1)?.version], [1000, 1001, 2]);
  await setLatestVersion(agent, assistantId, { ...ANYONE, version: 2, right: GRANTED });
  const next = await patchAssistant(agent, ANYONE, assistantId, {});
  assert.equal(next.version, 1002);
  const kept = await Array.fromAsync(await listVersions(agent, assistantId, all));
  assert.deepEqual([kept.length, kept.at(-1)?.version], [1000, 3]);
  await assert.rejects(setLatestVersion(agent, assistantId, { ...ANYONE, version: 2, right: GRANTED }), {
    code: "assistant_version_not_found",
  });
});

test("there are as many assistants as may be, and no more at the same moment", async (t) => {
  const agent = await (await start(t, 5))("a");
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, () => createAssistant(agent, { ...ANYONE, readable: null }, draft("a"))),
  );
  assert.equal(made.filter(({ status }) => status === "fulfilled").length, 4);
  assert.equal(await countAssistants(agent, ALL), 5);
});

test("objects created, changed or restored within a scope stay in it", async (t) => {
  const agent = await (await start(t))("a");
  const scope = [{ key: "owner", op: "eq", value: "ann" }] as const;
  const { assistantId, metadata } = await createAssistant(agent, { caller, scope, readable: scope }, draft("a"));
  assert.deepEqual(metadata, { owner: "ann" });
  const patched = await patchAssistant(agent, { caller, scope }, assistantId, { metadata: { owner: "bob" } });
  assert.deepEqual(patched.metadata, { owner: "ann" });
  await patchAssistant(agent, ANYONE, assistantId, { metadata: { owner: "bob" } });
  await assert.rejects(setLatestVersion(agent, assistantId, { caller, scope, version: 1, right: GRANTED }), {
    code: "assistant_not_found",
  });
  const bobs = [{ key: "owner", op: "eq", value: "bob" }] as const;
  assert.deepEqual(
    (await setLatestVersion(agent, assistantId, { caller, scope: bobs, version: 1, right: GRANTED })).metadata,
    {
      owner: "bob",
    },
  );
});
