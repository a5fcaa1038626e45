// Tests of an upgrade from the oldest LangGraph to the pinned one while threads are paused. Rules:
//   library-upgrade.1. A question that is open keeps its id, also when a sibling's answer makes the new library raise
//        it again.
//   library-upgrade.2. Its answer reaches it, and the thread completes.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { copyForOldest } from "./oldest-langgraph.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newThread, openThread, listQuestions, type Result, type WireInterrupt } from "../harness/threads.ts";

const OLDEST = join(copyForOldest(), "test", "graphs", "langgraph.json");
const PINNED = join(ROOT, "test", "graphs", "langgraph.json");

const find = (result: Result, text: string): WireInterrupt => {
  const found = listQuestions(result).find(({ value }) => JSON.stringify(value).includes(text));
  assert.ok(found, `${text} is not asked: ${JSON.stringify(result)}`);
  return found;
};

const CASES = [
  { graph: "tasks_in_parallel", input: ["a", "b"], first: "a1", waits: "a2", sibling: "b1" },
  { graph: "node_that_calls", input: { names: [] }, first: "beside1", waits: "beside2", sibling: "caller" },
];

for (const { graph, input, first, waits, sibling } of CASES) {
  test(`${graph}: the second question of a task waits through the upgrade (library-upgrade.1, library-upgrade.2)`, async (t) => {
    const dataDir = temporaryFolder();
    t.after(() => removeFolder(dataDir));
    const before = await startServerHere({ config: OLDEST, dataDir });
    const old = await newThread(before, graph);
    const asked = await old.run({ input });
    const paused = await old.resume({ [find(asked, first).id]: "one" });
    const waiting = find(paused, waits);
    await before.stop();

    const after = await startServerHere({ config: PINNED, dataDir });
    t.after(() => after.stop());
    const thread = openThread(after, graph, old.threadId);
    let result = await thread.resume({ [find(paused, sibling).id]: "sibling" });
    assert.equal(find(result, waits).id, waiting.id);
    result = await thread.resume({ [waiting.id]: "two" });
    while (result.__interrupt__ !== undefined) {
      result = await thread.resume(Object.fromEntries(result.__interrupt__.map(({ id }) => [id, "more"])));
    }
    const answers = result["answers"] as readonly string[];
    assert.ok(answers.includes(`${first}=one`), JSON.stringify(answers));
    assert.ok(answers.includes(`${waits}=two`), JSON.stringify(answers));
    assert.ok(answers.includes(`${sibling}=sibling`), JSON.stringify(answers));
  });
}
