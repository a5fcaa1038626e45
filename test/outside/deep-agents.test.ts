// An agent of the deepagents package, with two subagents at work, in pages of the official client.
//   deep-agents.1. A page shows each subagent with its task, messages, tool calls and result: while it works, after a
//     reload in the middle, and after a reload at the end.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { CLIENTS, officialClient, openPage, type OfficialClient, type Page } from "../harness/protocol/sdk-clients.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { until } from "../harness/threads.ts";

let server: ServerHere;
let client: OfficialClient;
const folder = temporaryFolder();
before(async () => {
  server = await startServerHere({ config: join(CLIENTS, "langgraph.json") });
  client = await officialClient("1.15");
});
after(async () => {
  removeFolder(folder);
  await server.stop();
  removeFolder(server.dataDir);
});

interface Subagent {
  readonly name: string;
  readonly task: string | undefined;
  readonly status: string;
  readonly output: unknown;
  readonly texts: readonly string[];
  readonly calls: readonly unknown[];
}

/** Reads the subagents of a page as the hooks of the frameworks do: the content of each is a stream of its own. */
function watchSubagents({ hook }: Page): () => readonly Subagent[] {
  const opened = new Map<string, ReturnType<typeof open>>();
  const open = (namespace: readonly string[]) => ({
    messages: hook.registry.acquire(client.messagesProjection(namespace)).store,
    calls: hook.registry.acquire(client.toolCallsProjection(namespace)).store,
  });
  return () =>
    [...hook.subagentStore.getSnapshot().values()].map(({ id, name, namespace, taskInput, status, output }) => {
      const isResolved = namespace.join() !== `tools:${id}`;
      if (!isResolved) void hook.resolveSubagentNamespace(id);
      if (isResolved && !opened.has(id)) opened.set(id, open(namespace));
      const { messages, calls } = opened.get(id) ?? {};
      return {
        name,
        task: taskInput,
        status,
        output,
        texts: (messages?.getSnapshot() ?? []).filter(({ type }) => type === "ai").map(({ text }) => text),
        calls: (calls?.getSnapshot() ?? []).map((one) => [one.name, one.input]),
      };
    });
}

test("two subagents, live and after a reload (deep-agents.1)", PATIENCE, async () => {
  const threadId = randomUUID();
  const files = ["one", "two"].map((name) => join(folder, name));
  const tasks = files.map((file) => JSON.stringify([["await_file", { file }]]));
  const load = () => openPage(client, { url: server.url, threadId, assistantId: "deep" });
  const atWork = (page: Page) => {
    const shown = watchSubagents(page);
    return until("two subagents at work", async () => {
      const all = shown();
      return all.length === 2 && all.every(({ calls }) => calls.length === 1) ? { all, shown } : undefined;
    });
  };

  const first = await load();
  const calls = tasks.map((description) => ["task", { description, subagent_type: "helper" }]);
  const sent = first.hook.submit({ messages: [{ type: "human", content: JSON.stringify(calls) }] });
  const live = await atWork(first);
  const second = await load();
  const reloaded = await atWork(second);
  for (const { all } of [live, reloaded]) {
    assert.deepEqual(
      all.map(({ name, task, status, calls: [call] }) => ({ name, task, status, call })),
      files.map((file, at) => ({
        name: "helper",
        task: tasks[at],
        status: "running",
        call: ["await_file", { file }],
      })),
    );
  }

  for (const file of files) writeFileSync(file, "");
  await sent;
  const third = await load();
  for (const shown of [live.shown, reloaded.shown, watchSubagents(third)]) {
    await until("the results of both", async () => {
      const ends = shown().map(({ status, texts }) => `${status}: ${texts.at(-1)}`);
      return ends.join() === "complete: saw one,complete: saw two" || undefined;
    });
    for (const { output } of shown()) assert.match(JSON.stringify(output), /saw (?:one|two)/);
  }
  for (const page of [first, second, third]) {
    assert.equal(page.texts().at(-1), "saw one and saw two");
    await page.close();
  }
});
