// Tests of interrupts in tasks of the functional API, over real HTTP (graphs/run/interrupts/open-interrupts.ts).
// Rules:
//   calls.1. Every answer reaches the interrupt it names, in any order of answers (open-interrupts.1).
//   calls.2. `ns` is the path of the interrupted task, through its calling tasks and nodes, and ids are hashes of it.
//   calls.3. A finished task does not interrupt again.
import assert from "node:assert/strict";
import { createXXHash128 } from "hash-wasm";
import { after, suite, test } from "node:test";
import { onOldest } from "../harness/langgraph.ts";
import { removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newThread, listQuestions, type Result, type WireInterrupt } from "../harness/threads.ts";

const server = await startServerHere();
const hasher = await createXXHash128();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const hash = (text: string): string => hasher.init().update(text).digest("hex");
const NAMES = ["a", "b", "c"];

const GRAPHS = [
  { graph: "tasks_in_sequence", input: NAMES, asked: 6 },
  { graph: "one_task_often", input: NAMES, asked: 3 },
  { graph: "tasks_in_parallel", input: NAMES, asked: 6 },
  { graph: "tasks_in_tasks", input: NAMES, asked: 14 },
  { graph: "node_that_calls", input: { names: NAMES }, asked: 15 },
  { graph: "node_that_runs", input: { names: NAMES }, asked: 14 },
];

const ORDERS: Readonly<Record<string, (open: readonly WireInterrupt[]) => readonly WireInterrupt[]>> = {
  "the first": (open) => open.slice(0, 1),
  "the last": (open) => open.slice(-1),
  "all at once": (open) => open,
};

for (const { graph, input, asked } of GRAPHS) {
  suite(`${graph}: every answer reaches its question (calls.1, calls.3)`, () => {
    for (const [name, choose] of Object.entries(ORDERS)) {
      test(`answered ${name} first`, async () => {
        const thread = await newThread(server, graph);
        const seen = new Map<string, unknown>();
        let result: Result = await thread.run({ input });
        for (let open = result.__interrupt__; open !== undefined; open = result.__interrupt__) {
          const chosen = choose(open);
          for (const { id, value } of chosen) {
            assert.equal(seen.has(id), false, `${String(value)} has an id that was answered before`);
            seen.set(id, value);
          }
          result = await thread.resume(Object.fromEntries(chosen.map(({ id, value }) => [id, `to ${String(value)}`])));
        }
        const answers = result["answers"] as readonly string[];
        assert.equal(answers.length, asked);
        for (const answer of answers) assert.equal(answer, `${answer.split("=")[0]}=to ${answer.split("=")[0]}`);
        assert.deepEqual(new Set(seen.values()), new Set(answers.map((answer) => answer.split("=")[0])));
      });
    }
  });
}

const PATHS = [
  { graph: "tasks_in_tasks", input: NAMES, answers: 2, path: ["tasksInTasks", "around", "twice"] },
  { graph: "node_that_calls", input: { names: ["a"] }, answers: 2, path: ["caller", "around", "twice"] },
  { graph: "node_that_runs", input: { names: ["a"] }, answers: 2, path: ["runner", "tasksInTasks", "around", "twice"] },
];

for (const { graph, input, answers, path } of PATHS) {
  test(`the path of a task that interrupts in ${graph} is ${path.join(" > ")} (calls.2)`, async () => {
    const thread = await newThread(server, graph);
    let result: Result = await thread.run({ input });
    for (let at = 0; at < answers; at++) {
      const [question] = listQuestions(result);
      assert.ok(question);
      result = await thread.resume({ [question.id]: at });
    }
    for (const index of [0, 1]) {
      const [question] = listQuestions(result);
      assert.ok(question);
      assert.equal(question.value, `a${index + 1}`);
      assert.deepEqual(
        question.ns.map((part) => part.split(":")[0]),
        path,
      );
      const first = hash(question.ns.join("|"));
      const later = onOldest ? `${first}:${index}` : `${question.ns.join("|")}|${index}`;
      assert.equal(question.id, index === 0 ? first : hash(later));
      const state = await thread.state("?subgraphs=true");
      assert.ok(state.interrupts.some(({ id }) => id === question.id));
      result = await thread.resume({ [question.id]: "next" });
    }
  });
}
