// Tests of interrupts that no interrupt() call of their task raised (graphs/run/interrupts/open-interrupts.ts).
// Rules:
//   interrupts/thrown.1. One question, with the path of its node.
//   interrupts/thrown.2. One attempt for one answer. A node that throws again asks again, under a new id.
//   interrupts/thrown.3. An update with the answer reaches the node, also below the root.
//   interrupts/thrown.4. A graph without checkpoints gets each answer.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { removeFolder, ROOT } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newThread, onlyQuestion } from "../harness/threads.ts";

const server = await startServerHere({ config: join(ROOT, "test", "graphs", "places", "langgraph.json") });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const FORMS = [
  { graph: "thrownByNode", path: ["check"] },
  { graph: "thrownByGraph", path: ["check"] },
  { graph: "thrownBelow", path: ["inner", "check"] },
];

suite("a thrown interrupt (interrupts/thrown.1, interrupts/thrown.2, interrupts/thrown.3)", () => {
  for (const { graph, path } of FORMS) {
    test(`${graph} asks until its state is right`, async () => {
      const thread = await newThread(server, graph);
      const seen = new Set<string>();
      let result = await thread.run({ input: {} });
      for (const answer of ["yes", { a: 1 }]) {
        const question = onlyQuestion(result);
        assert.deepEqual([question.value, question.ns.map((part) => part.split(":")[0])], ["not ok yet", path]);
        assert.equal(seen.has(question.id), false, "each time is a new question");
        seen.add(question.id);
        result = await thread.resume({ [question.id]: answer });
      }
      const { id } = onlyQuestion(result);
      const end = await thread.run({ command: { resume: { [id]: "yes" }, update: { ok: true } } });
      assert.deepEqual([end["log"], end.__interrupt__, end.__error__], [["passed"], undefined, undefined]);
      assert.equal((await thread.get()).status, "idle");
    });
  }
});

test("a graph without checkpoints gets each answer (interrupts/thrown.4)", async () => {
  const thread = await newThread(server, "unsaved");
  let result = await thread.run({ input: {} });
  for (const value of ["a", "b"]) {
    const question = onlyQuestion(result);
    assert.equal(question.value, value);
    result = await thread.resume({ [question.id]: `to ${value}` });
  }
  assert.deepEqual(result["log"], ["a <- to a", "b <- to b"]);
});
