// Tests of durability: the time of each write, and equal results from memory and storage (run-checkpointer.3,
// run-checkpointer.4).
//   durability.1. With every durability, an interrupt is stored, listed and answerable.
//   durability.2. A result is the same at every later read.
//   durability.3. A subgraph's state can be read and edited in place.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newThread, onlyQuestion, listQuestions } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

for (const durability of ["sync", "async", "exit"]) {
  test(`with durability ${durability} both interrupts of a node take answers, also below the root (durability.1)`, async () => {
    for (const graph of ["two_in_one_node", "deep"]) {
      const thread = await newThread(server, graph);
      const first = await thread.run({ input: {}, durability });
      assert.equal((await thread.get()).status, "interrupted");
      assert.deepEqual(await thread.open(), listQuestions(first));
      const second = await thread.run({ command: { resume: "one" }, durability });
      assert.notEqual(onlyQuestion(second).id, onlyQuestion(first).id);
      assert.deepEqual((await thread.state()).next.length, 1);
      const end = await thread.run({ command: { resume: "two" }, durability });
      assert.ok(!("__interrupt__" in end));
      assert.deepEqual([end["first"], end["second"]], ["one", "two"]);
    }
  });
}

test("a result is the same at once and later, also of a first node that interrupts at once (durability.2)", async () => {
  for (const graph of ["two_in_one_node", "parallel", "deep", "steps"]) {
    const thread = await newThread(server, graph);
    const answer = await thread.wait({ input: {}, interrupt_before: [] });
    const location = answer.headers.get("location") ?? "";
    const later = await call(server, "GET", location);
    assert.deepEqual(later.body, answer.body);
  }
});

test("the state of a subgraph is edited by its namespace, and the pause above it stays (durability.3)", async () => {
  const thread = await newThread(server, "deep");
  await thread.run({ input: {} });
  const open = await thread.open();
  const checkpoint = { checkpoint_ns: open[0]?.ns.slice(0, 2).join("|") ?? "" };
  const edited = await call(server, "POST", `${thread.path}/state`, {
    values: { trail: ["by hand"] },
    as_node: "prepare",
    checkpoint,
  });
  assert.equal(edited.status, 200, edited.text);
  const inside = await call(server, "POST", `${thread.path}/state/checkpoint`, { checkpoint });
  const { values }: { values: { trail: readonly string[] } } = inside.body;
  assert.ok(values.trail.includes("by hand"), inside.text);
});
