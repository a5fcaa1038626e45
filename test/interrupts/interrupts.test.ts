// Tests of interrupts and breakpoints over real HTTP.
// Rules:
//   interrupts.1. Every open interrupt has id, value, resumable, ns and when; the id is a hash of ns (interrupt-ids.1,
//        open-interrupts.1).
//   interrupts.2. Any JSON value is an answer, and reaches the node unchanged.
//   interrupts.3. All open interrupts appear, in task order; each accepts a separate answer; finished branches neither
//        disappear nor run again.
//   interrupts.4. Interrupts appear from any depth: below the root, in tools, after a fan-out, in a loop.
//   interrupts.5. The waiting call, the thread and its state show the same ids.
//   interrupts.6. Each call sets its breakpoints; a list replaces the compiled one.
import assert from "node:assert/strict";
import { createXXHash128 } from "hash-wasm";
import { after, test } from "node:test";
import { onOldest } from "../harness/langgraph.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import {
  newNotes,
  newThread,
  onlyQuestion,
  openThread,
  readProblem,
  listQuestions,
  type Result,
  type TestThread,
  type WireInterrupt,
  type WireThread,
} from "../harness/threads.ts";

const server = await startServerHere();
const folder = temporaryFolder();
const hasher = await createXXHash128();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

const hash = (text: string): string => hasher.init().update(text).digest("hex");
const names = (question: WireInterrupt): readonly string[] => question.ns.map((part) => part.split(":")[0] ?? "");
const ids = (questions: readonly WireInterrupt[]): readonly string[] => questions.map(({ id }) => id);
const NS_PART = /^[\w-]+:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** interrupts.1. @param index number of earlier interrupts of the task */
function checkElement(question: WireInterrupt, path: readonly string[], index = 0): void {
  assert.deepEqual(Object.keys(question).slice(0, 5), ["id", "value", "resumable", "ns", "when"]);
  assert.equal(question.when, "during");
  assert.equal(question.resumable, true);
  assert.deepEqual(names(question), path);
  for (const part of question.ns) assert.match(part, NS_PART);
  const first = hash(question.ns.join("|"));
  const later = onOldest ? `${first}:${index}` : `${question.ns.join("|")}|${index}`; // the library's own since 1.7
  assert.equal(question.id, index === 0 ? first : hash(later));
}

/** As a state shows it: with the member that clients of the thread protocol read. */
const inState = (question: WireInterrupt): object => ({ ...question, namespace: question.ns.slice(0, -1) });

/** interrupts.5: the thread, its state and the state's tasks show these questions and no others. */
async function checkShown(thread: TestThread, result: Result): Promise<void> {
  const questions = listQuestions(result);
  const shown = await thread.get();
  assert.equal(shown.status, "interrupted");
  const sorted = (list: readonly WireInterrupt[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  assert.deepEqual(sorted(Object.values(shown.interrupts).flat()), sorted(questions));
  for (const [taskId, list] of Object.entries(shown.interrupts))
    for (const { ns } of list) assert.equal(ns[0]?.split(":")[1], taskId);
  const expected = sorted(questions).map(inState);
  for (const query of ["", "?subgraphs=true"]) {
    const state = await thread.state(query);
    assert.deepEqual(sorted(state.interrupts), expected, `state${query}`);
    assert.deepEqual(sorted(state.tasks.flatMap((task) => task.interrupts)), expected, `tasks of state${query}`);
  }
}

const ANSWERS: readonly { readonly name: string; readonly value: unknown }[] = [
  { name: "null", value: null },
  { name: "false", value: false },
  { name: "0", value: 0 },
  { name: "an empty text", value: "" },
  { name: "an empty list", value: [] },
  { name: "an empty object", value: {} },
  { name: "true", value: true },
  { name: "a fraction", value: -1.5e-7 },
  { name: "a list of nothing", value: [null, [], {}, ""] },
  { name: "an object", value: { decision: "approve", by: ["ann", { at: null }] } },
  { name: "an object with a key of 31 digits", value: { ["a".repeat(31)]: 1 } },
  { name: "an object with a key of 32 upper-case digits", value: { ["A".repeat(32)]: 1 } },
  { name: "an object of which one key looks like an id", value: { ["a".repeat(32)]: 1, other: 2 } },
  { name: "text beyond ASCII", value: "ü\u{1f600}\u0000\ud800" },
  { name: "an object that looks like our own tag", value: { $hp: "date", v: 0 } },
  { name: "an object that looks like another library's", value: { lc: 1, type: "constructor", id: ["x"], kwargs: {} } },
];

for (const { name, value } of ANSWERS) {
  test(`an answer of ${name} reaches the node as it was, bare and by id (interrupts.2)`, async () => {
    for (const resume of [() => value, ({ id }: WireInterrupt) => ({ [id]: value })]) {
      const thread = await newThread(server, "echo");
      const question = onlyQuestion(await thread.run({ input: { payload: "?" } }));
      const result = await thread.resume(resume(question));
      assert.deepEqual(result, { payload: "?", answer: [value] });
      assert.equal((await thread.get()).status, "idle");
    }
  });
}

test("an answer that resembles a map of ids needs a wrapping map (interrupts.2)", async () => {
  const thread = await newThread(server, "echo");
  const question = onlyQuestion(await thread.run({ input: {} }));
  const lookalike = { ["a".repeat(32)]: "x", ["0".repeat(32)]: null };
  const bare = await thread.wait({ command: { resume: lookalike } });
  assert.equal(readProblem(bare).code, "interrupt_unknown");
  const result = await thread.resume({ [question.id]: lookalike });
  assert.deepEqual(result["answer"], [lookalike]);
});

for (const value of [null, false, 0, "", [], {}, { a: [1] }, "text"]) {
  test(`an interrupt with ${JSON.stringify(value)} appears unchanged (interrupts.1)`, async () => {
    const thread = await newThread(server, "echo");
    const result = await thread.run({ input: { payload: value } });
    checkElement(onlyQuestion(result), ["ask"]);
    assert.deepEqual(onlyQuestion(result).value, value ?? "?");
    await checkShown(thread, result);
  });
}

test("the pause returns the state and the interrupt, and the answer the whole state", async () => {
  const thread = await newThread(server, "agent");
  const paused = await thread.run({ input: { some_text: "original text" } });
  assert.deepEqual(onlyQuestion(paused).value, { text_to_revise: "original text" });
  assert.equal(paused["some_text"], "original text");
  assert.deepEqual(await thread.resume("Edited text"), { some_text: "Edited text" });
});

test("two interrupts in one node open one after the other, each with a separate id (interrupts.1)", async () => {
  const thread = await newThread(server, "two_in_one_node");
  const notes = newNotes(folder);
  const first = await thread.run({ input: { notes: notes.notes } });
  checkElement(onlyQuestion(first), ["ask_twice"]);
  const second = await thread.resume(null);
  const question = onlyQuestion(second);
  checkElement(question, ["ask_twice"], 1);
  assert.deepEqual(question.value, { question: "second", first: null });
  assert.deepEqual(question.ns, onlyQuestion(first).ns);
  await checkShown(thread, second);
  const late = await thread.wait({ command: { resume: { [onlyQuestion(first).id]: "late" } } });
  assert.equal(readProblem(late).code, "interrupt_stale");
  const end = await thread.resume({ [question.id]: false });
  assert.deepEqual(end, { notes: notes.notes, first: null, second: false });
  assert.deepEqual(notes.lines(), ["start", "start", "between", "start", "between", "end"]);
});

const BRANCHES = ["zebra", "lion", "ape"];
const ORDERS = [
  [["zebra", "lion", "ape"]],
  [["ape", "zebra"], ["lion"]],
  [["ape"], ["lion", "zebra"]],
  [["zebra"], ["lion"], ["ape"]],
  [["ape"], ["lion"], ["zebra"]],
  [["lion"], ["ape"], ["zebra"]],
];

for (const order of ORDERS) {
  test(`parallel questions answered ${order.map((group) => group.join(" and ")).join(", then ")} (interrupts.3)`, async () => {
    const thread = await newThread(server, "parallel");
    const notes = newNotes(folder);
    let result = await thread.run({ input: { notes: notes.notes } });
    assert.deepEqual(
      listQuestions(result).map(names),
      BRANCHES.map((name) => [name]),
    ); // the graph's order
    for (const question of listQuestions(result)) checkElement(question, names(question));
    const idByName = new Map(listQuestions(result).map((question) => [names(question)[0], question.id]));
    assert.deepEqual(result["done"], ["quiet"]);
    const answered: string[] = [];
    for (const group of order) {
      await checkShown(thread, result);
      result = await thread.resume(Object.fromEntries(group.map((name) => [idByName.get(name) ?? "", `to ${name}`])));
      answered.push(...group);
      const open = BRANCHES.filter((name) => !answered.includes(name));
      assert.deepEqual(
        (result.__interrupt__ ?? []).map(names),
        open.map((name) => [name]),
      );
      assert.deepEqual(
        ids(result.__interrupt__ ?? []),
        open.map((name) => idByName.get(name)),
      );
      const done = new Set(result["done"] as string[]);
      assert.deepEqual(done, new Set(["quiet", ...answered.map((name) => `${name}="to ${name}"`)]));
      assert.deepEqual((await thread.get()).values?.["done"], result["done"]);
    }
    assert.equal(result.__interrupt__, undefined);
    assert.equal((result["done"] as string[]).length, 4);
    for (const once of ["quiet", "collect", ...BRANCHES.map((name) => `${name} end`)]) {
      assert.equal(notes.count(once), 1, once);
    }
    BRANCHES.forEach((name) => {
      const round = order.findIndex((group) => group.includes(name));
      assert.equal(notes.count(`${name} start`), round + 2, name); // each time it was open, and once with its answer
    });
  });
}

test("questions after a fan-out come in the order of the sent tasks; finished tasks are kept (interrupts.3, interrupts.4)", async () => {
  const thread = await newThread(server, "sends");
  const notes = newNotes(folder);
  const items = ["pear", "auto-1", "fig", "auto-2", "kiwi"];
  const paused = await thread.run({ input: { notes: notes.notes, items } });
  const questions = listQuestions(paused);
  assert.deepEqual(
    questions.map(({ value }) => value),
    [{ review: "pear" }, { review: "fig" }, { review: "kiwi" }],
  );
  for (const question of questions) checkElement(question, ["review"]);
  assert.deepEqual(paused["done"], ["auto-1", "auto-2"]);
  await checkShown(thread, paused);
  const [pear = "", fig = "", kiwi = ""] = ids(questions);
  const partly = await thread.resume({ [kiwi]: 3 });
  assert.deepEqual(ids(listQuestions(partly)), [pear, fig]);
  await checkShown(thread, partly);
  const end = await thread.resume({ [fig]: 2, [pear]: 1 });
  assert.deepEqual(end["done"], ["pear=1", "auto-1", "fig=2", "auto-2", "kiwi=3"]);
  for (const item of ["auto-1", "auto-2"]) assert.equal(notes.count(`${item} start`), 1);
  for (const item of ["pear", "fig", "kiwi"]) assert.equal(notes.count(`${item} end`), 1);
});

test("a question two levels down has the whole path, and is answered once (interrupts.1, interrupts.4)", async () => {
  const thread = await newThread(server, "deep");
  const notes = newNotes(folder);
  const path = ["outer", "inside", "ask_twice"];
  const first = await thread.run({ input: { notes: notes.notes } });
  checkElement(onlyQuestion(first), path);
  await checkShown(thread, first);
  const second = await thread.resume("one");
  checkElement(onlyQuestion(second), path, 1);
  await checkShown(thread, second);
  const end = await thread.resume({ [onlyQuestion(second).id]: 0 });
  assert.deepEqual([end["first"], end["second"]], ["one", 0]);
  assert.equal(notes.count("prepare"), 1);
  assert.equal(notes.count("ask end"), 1);
  assert.equal(notes.count("after"), 1);
});

test("the state shows nested graphs on demand, down to the question (interrupts.5)", async () => {
  const thread = await newThread(server, "deep");
  const question = onlyQuestion(await thread.run({ input: {} }));
  const flat = (await thread.state()).tasks[0];
  assert.equal(flat?.state, null);
  assert.equal(flat?.checkpoint?.checkpoint_ns, question.ns[0]);
  let state = await thread.state("?subgraphs=true");
  for (const [depth, part] of question.ns.entries()) {
    const task = state.tasks[0];
    assert.equal(`${task?.name}:${task?.id}`, part);
    assert.deepEqual(task?.interrupts, [inState(question)]);
    if (depth < question.ns.length - 1) {
      assert.ok(task?.state);
      state = task.state;
      assert.equal(state.checkpoint.checkpoint_ns, question.ns.slice(0, depth + 1).join("|"));
    }
  }
  const ns = question.ns.slice(0, 2).join("|");
  const body = { checkpoint: { checkpoint_ns: ns }, subgraphs: true };
  const direct = await call(server, "POST", `${thread.path}/state/checkpoint`, body);
  assert.equal(direct.status, 200, direct.text);
  assert.deepEqual((direct.body as typeof state).tasks[0]?.interrupts, [inState(question)]);
  assert.deepEqual((direct.body as typeof state).next, ["ask_twice"]);
});

test("a question in a graph that a node calls (interrupts.4)", async () => {
  const thread = await newThread(server, "called");
  const notes = newNotes(folder);
  const paused = await thread.run({ input: { notes: notes.notes } });
  checkElement(onlyQuestion(paused), ["caller", "ask"]);
  await checkShown(thread, paused);
  const end = await thread.resume([]);
  assert.deepEqual(end["third"], []);
  assert.deepEqual(notes.lines(), ["caller start", "ask", "caller start", "ask", "caller end"]);
});

test("questions of two nested graphs side by side are answered apart (interrupts.3, interrupts.4)", async () => {
  const thread = await newThread(server, "nested_parallel");
  const notes = newNotes(folder);
  const paused = await thread.run({ input: { notes: notes.notes } });
  assert.deepEqual(listQuestions(paused).map(names), [
    ["left", "inside", "ask_twice"],
    ["right", "ask"],
  ]);
  for (const question of listQuestions(paused)) checkElement(question, names(question));
  await checkShown(thread, paused);
  const [left = "", right = ""] = ids(listQuestions(paused));
  const ambiguous = await thread.wait({ command: { resume: "both?" } });
  assert.equal(readProblem(ambiguous).code, "answer_ambiguous");
  const second = await thread.resume({ [left]: "l1" });
  const [leftSecond, rightStill] = listQuestions(second);
  assert.ok(leftSecond);
  checkElement(leftSecond, ["left", "inside", "ask_twice"], 1);
  assert.equal(rightStill?.id, right);
  await checkShown(thread, second);
  const last = await thread.resume({ [right]: "r" });
  assert.deepEqual(ids(listQuestions(last)), [leftSecond.id]);
  const before = notes.count("ask");
  const end = await thread.run({ command: { resume: "l2" } });
  assert.equal(end.__interrupt__, undefined);
  assert.deepEqual([end["first"], end["second"], end["third"]], ["l1", "l2", "r"]);
  assert.equal(notes.count("ask"), before, "the finished branch did not run again");
  assert.equal(notes.count("ask end"), 1);
});

test("two tools of one message ask together, and each gets its own answer (interrupts.4)", async () => {
  const thread = await newThread(server, "tools");
  const first = await thread.run({ input: { messages: [{ role: "user", content: "pay back" }] } });
  const asked = listQuestions(first);
  assert.deepEqual(
    asked.map(({ value, ns }) => [value, ns.map((part) => part.split(":")[0])]),
    [
      [{ refund: 1 }, ["tools"]],
      [{ refund: 2 }, ["tools"]],
    ],
  );
  await checkShown(thread, first);
  const second = await thread.resume({ [asked[1]?.id ?? ""]: false });
  assert.equal(onlyQuestion(second).id, asked[0]?.id, "an open question keeps its id");
  await checkShown(thread, second);
  const end = await thread.resume({ approve: true });
  const contents = (end["messages"] as { readonly content: string }[]).map(({ content }) => content);
  assert.deepEqual(contents, ["pay back", "", 'refund 1: {"approve":true}', "refund 2: false", "done"]);
});

test("a question in a loop is a new one in each round (interrupts.4)", async () => {
  const thread = await newThread(server, "loop");
  const notes = newNotes(folder);
  let result = await thread.run({ input: { notes: notes.notes } });
  const seen = new Set<string>();
  for (const [round, answer] of ["a", null, "c", "d", "stop"].entries()) {
    const question = onlyQuestion(result);
    checkElement(question, ["again"]);
    assert.deepEqual(question.value, { round });
    seen.add(question.id);
    await checkShown(thread, result);
    result = await thread.resume(answer);
  }
  assert.equal(seen.size, 5);
  assert.deepEqual(result["answers"], ["a", null, "c", "d", "stop"]);
  assert.deepEqual(notes.lines(), ["round 0", "round 1", "round 2", "round 3", "round 4"]);
});

test("the third and the fourth question on one thread, and the questions of its next input (interrupts.4)", async () => {
  const thread = await newThread(server, "series");
  const notes = newNotes(folder);
  const asked: string[] = [];
  for (const input of [{ notes: notes.notes }, {}]) {
    let result = await thread.run({ input });
    for (const name of ["one", "two", "three", "four"]) {
      const question = onlyQuestion(result);
      checkElement(question, [name]);
      await checkShown(thread, result);
      asked.push(question.id);
      result = await thread.resume(`${name}!`);
    }
    assert.equal(result.__interrupt__, undefined);
  }
  assert.equal(new Set(asked).size, 8);
  assert.equal((await thread.get()).status, "idle");
  for (const name of ["one", "two", "three", "four"]) assert.equal(notes.count(`${name} end`), 2);
});

test("questions in a task and in the body of the functional API (interrupts.4)", async () => {
  const thread = await newThread(server, "functional");
  const notes = newNotes(folder);
  const first = await thread.run({ input: { topic: "bees", notes: notes.notes } });
  assert.deepEqual(onlyQuestion(first).value, { confirm: "draft of bees" });
  const second = await thread.resume(false);
  assert.deepEqual(onlyQuestion(second).value, { title_for: "draft of bees" });
  const end = await thread.resume("Bees");
  assert.deepEqual(end, { text: "draft of bees", confirmed: false, title: "Bees" });
  assert.equal(notes.count("draft"), 1);
});

test("messages keep their form through a pause", async () => {
  const thread = await newThread(server, "messages");
  const paused = await thread.run({ input: { messages: [{ role: "user", content: "hello" }] } });
  assert.deepEqual(onlyQuestion(paused).value, { heard: 1 });
  const end = await thread.resume("hi there");
  const list = end["messages"] as { readonly type: string; readonly content: string; readonly id: string }[];
  assert.deepEqual(
    list.map(({ type, content }) => [type, content]),
    [
      ["human", "hello"],
      ["ai", "hi there"],
    ],
  );
  assert.deepEqual((await thread.state()).values["messages"], list);
});

test("an answer that does not match the interrupt's schema is rejected; the interrupt stays open", async () => {
  const thread = await newThread(server, "schema");
  const paused = await thread.run({ input: {} });
  assert.ok(onlyQuestion(paused).response_schema);
  const before = await thread.picture();
  for (const value of [null, "yes", {}, { approved: "yes" }]) {
    const answer = await thread.wait({ command: { resume: value } });
    assert.equal(answer.status, 422);
    assert.equal(readProblem(answer).code, "answer_invalid");
  }
  assert.deepEqual(await thread.picture(), before);
  assert.deepEqual((await thread.resume({ approved: false }))["answer"], { approved: false });
});

// Breakpoints (interrupts.6).

const abc = (count: number) => ["node_a", "node_b", "node_c"].slice(0, count);

async function checkStop(thread: TestThread, body: object, visited: readonly string[], next: readonly string[]) {
  const result = await thread.run(body);
  assert.deepEqual(result["visited"] ?? [], visited);
  const state = await thread.state();
  assert.deepEqual(state.next, next);
  if (next.length > 0) assert.deepEqual(result.__interrupt__, []);
  else assert.equal(result.__interrupt__, undefined);
  assert.equal((await thread.get()).status, next.length > 0 ? "interrupted" : "idle");
  assert.deepEqual((await thread.get()).interrupts, {});
}

for (const all of ["*", ["*"]]) {
  test(`interrupt_before ${JSON.stringify(all)} stops at each node in turn (interrupts.6)`, async () => {
    const thread = await newThread(server, "steps");
    await checkStop(thread, { input: {}, interrupt_before: all }, [], ["node_a"]);
    await checkStop(thread, { input: null, interrupt_before: all }, abc(1), ["node_b"]);
    await checkStop(thread, { interrupt_before: all }, abc(2), ["node_c"]);
    await checkStop(thread, { input: null, interrupt_before: all }, abc(3), []);
  });

  test(`interrupt_after ${JSON.stringify(all)} stops behind each node that has another behind it (interrupts.6)`, async () => {
    const thread = await newThread(server, "steps");
    await checkStop(thread, { input: {}, interrupt_after: all }, abc(1), ["node_b"]);
    await checkStop(thread, { interrupt_after: all }, abc(2), ["node_c"]);
    await checkStop(thread, { interrupt_after: all }, abc(3), []);
  });
}

test("breakpoints change with every call (interrupts.6)", async () => {
  const thread = await newThread(server, "steps");
  await checkStop(thread, { input: {}, interrupt_before: ["node_b"] }, abc(1), ["node_b"]);
  await checkStop(thread, { input: null, interrupt_after: ["node_b"] }, abc(2), ["node_c"]);
  await checkStop(thread, { interrupt_before: ["node_a", "node_b"] }, abc(3), []);
  const again = [...abc(3), "node_a"];
  await checkStop(thread, { input: {}, interrupt_after: ["node_a"], interrupt_before: ["node_c"] }, again, ["node_b"]);
  await checkStop(thread, { input: null, interrupt_before: ["node_c"] }, [...again, "node_b"], ["node_c"]);
  await checkStop(thread, {}, [...again, "node_b", "node_c"], []);
});

test("a list compiled into the graph holds until a call brings its own (interrupts.6)", async () => {
  const compiled = await newThread(server, "compiled_breakpoints");
  await checkStop(compiled, { input: {} }, abc(1), ["node_b"]);
  await checkStop(compiled, {}, abc(3), []);
  const replaced = await newThread(server, "compiled_breakpoints");
  await checkStop(replaced, { input: {}, interrupt_before: ["node_c"] }, abc(2), ["node_c"]);
  const off = await newThread(server, "compiled_breakpoints");
  await checkStop(off, { input: {}, interrupt_before: [] }, abc(3), []);
  const nulled = await newThread(server, "compiled_breakpoints");
  await checkStop(nulled, { input: {}, interrupt_before: null }, abc(1), ["node_b"]);
});

test("a breakpoint on a name that the graph does not have is refused with those it has (interrupts.6)", async () => {
  for (const field of ["interrupt_before", "interrupt_after"]) {
    const thread = await newThread(server, "steps");
    const before = await thread.picture();
    const answer = await thread.wait({ input: {}, [field]: ["node_a", "node_x"] });
    assert.equal(answer.status, 422);
    const problem = readProblem(answer);
    assert.equal(problem.code, "node_unknown");
    assert.match(problem.detail, new RegExp(`${field}.*node_x`));
    assert.deepEqual(problem.known, abc(3));
    assert.deepEqual(await thread.picture(), before);
  }
});

test("a breakpoint before a node with an interrupt: the breakpoint first, then the interrupt", async () => {
  const thread = await newThread(server, "agent");
  await thread.run({ input: { some_text: "x" }, interrupt_before: ["human_node"] });
  const question = onlyQuestion(await thread.resume("the value is not used"));
  checkElement(question, ["human_node"]);
  assert.deepEqual(await thread.resume("y"), { some_text: "y" });
});

for (const [how, body] of [
  ["null", { input: null }],
  ["left out", {}],
] as const) {
  test(`input ${how} at a question runs the node again, to the same question`, async () => {
    const thread = await newThread(server, "echo");
    const notes = newNotes(folder);
    const first = onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
    assert.deepEqual(onlyQuestion(await thread.run(body)), first);
    assert.equal(notes.count("before"), 2);
    assert.deepEqual((await thread.resume("a"))["answer"], ["a"]);
  });
}

test("new input on a paused thread abandons the pause; its interrupt is stale then", async () => {
  const thread = await newThread(server, "echo");
  const old = onlyQuestion(await thread.run({ input: { payload: "old" } }));
  const fresh = onlyQuestion(await thread.run({ input: { payload: "new" } }));
  assert.equal(fresh.value, "new");
  assert.notEqual(fresh.id, old.id);
  const answer = await thread.wait({ command: { resume: { [old.id]: "late" } } });
  assert.equal(answer.status, 409);
  assert.equal(readProblem(answer).code, "interrupt_stale");
  assert.deepEqual(readProblem(answer).pending, [fresh]);
  assert.deepEqual((await thread.resume("x"))["answer"], ["x"]);
});

// The state read afterwards.

test("a state has the position of its interrupt; the history marks answered interrupts", async () => {
  const thread = await newThread(server, "series");
  const first = onlyQuestion(await thread.run({ input: {} }));
  const second = onlyQuestion(await thread.resume("a"));
  const history = await thread.history();
  assert.deepEqual(history[0]?.interrupts, [inState(second)]);
  assert.deepEqual(history[1]?.interrupts, [inState({ ...first, resumable: false })]);
  assert.deepEqual(
    history.map(({ next }) => next),
    [["two"], ["one"], ["__start__"]],
  );
  for (const [at, state] of history.entries()) {
    assert.equal(state.parent_checkpoint?.checkpoint_id, history[at + 1]?.checkpoint.checkpoint_id);
  }
  const id = history[1]?.checkpoint.checkpoint_id ?? "";
  const older = await call(server, "GET", `${thread.path}/state/${id}`);
  assert.deepEqual((older.body as (typeof history)[0]).interrupts, [inState({ ...first, resumable: false })]);
  const newest = await call(server, "GET", `${thread.path}/state/${history[0]?.checkpoint.checkpoint_id}`);
  assert.deepEqual((newest.body as (typeof history)[0]).interrupts, [inState(second)]);
});

test("the history is cut by limit and before, in both calls", async () => {
  const thread = await newThread(server, "steps");
  await thread.run({ input: {} });
  const all = (await thread.history()).map(({ checkpoint }) => checkpoint.checkpoint_id);
  assert.equal(all.length, 5);
  const before = { configurable: { checkpoint_id: all[1] } };
  const calls = [
    await call(server, "GET", `${thread.path}/history?limit=2&before=${all[1]}`),
    await call(server, "POST", `${thread.path}/history`, { limit: 2, before: all[1] }),
    await call(server, "POST", `${thread.path}/history`, { limit: 2, before }),
    await call(server, "POST", `${thread.path}/history`, { limit: 2, before: { checkpoint_id: all[1] } }),
  ];
  for (const { body } of calls) {
    const list = body as { readonly checkpoint: { readonly checkpoint_id: string } }[];
    assert.deepEqual(
      list.map(({ checkpoint }) => checkpoint.checkpoint_id),
      all.slice(2, 4),
    );
  }
  const filtered = await call(server, "POST", `${thread.path}/history`, { metadata: { step: 1 } });
  assert.equal((filtered.body as unknown[]).length, 1);
});

test("the copy of a paused thread is paused at the same questions; each is answered by itself", async () => {
  const thread = await newThread(server, "parallel", { metadata: { owner: "ann" } });
  const notes = newNotes(folder);
  const paused = await thread.run({ input: { notes: notes.notes } });
  const [zebra = "", lion = "", ape = ""] = ids(listQuestions(paused));
  const partly = await thread.resume({ [zebra]: 1 });
  const copied = await call(server, "POST", `${thread.path}/copy`);
  assert.equal(copied.status, 200, copied.text);
  const copy = openThread(server, "parallel", (copied.body as WireThread).thread_id);
  assert.notEqual(copy.threadId, thread.threadId);
  assert.equal((await copy.get()).metadata["owner"], "ann");
  await checkShown(copy, partly);
  assert.deepEqual((await copy.get()).values, (await thread.get()).values);
  const original = await thread.picture();
  const end = await copy.resume({ [lion]: "copy", [ape]: "copy" });
  assert.deepEqual(new Set(end["done"] as string[]), new Set(["zebra=1", "quiet", 'lion="copy"', 'ape="copy"']));
  assert.deepEqual(await thread.picture(), original);
  const own = await thread.resume({ [lion]: "own", [ape]: "own" });
  assert.deepEqual(new Set(own["done"] as string[]), new Set(["zebra=1", "quiet", 'lion="own"', 'ape="own"']));
  assert.equal(notes.count("zebra end"), 1, "the branch that had finished ran in neither again");
});

test('a state update as "__end__" abandons the pause; the interrupt is stale, and the thread takes new input', async () => {
  const thread = await newThread(server, "parallel");
  const paused = await thread.run({ input: {} });
  const update = await call(server, "POST", `${thread.path}/state`, { values: null, as_node: "__end__" });
  assert.equal(update.status, 200, update.text);
  const state = await thread.state();
  assert.deepEqual([state.next, state.tasks, state.interrupts], [[], [], []]);
  const shown = await thread.get();
  assert.deepEqual([shown.status, shown.interrupts], ["idle", {}]);
  for (const { id } of listQuestions(paused)) {
    assert.equal(readProblem(await thread.wait({ command: { resume: { [id]: 1 } } })).code, "interrupt_stale");
  }
  assert.equal(listQuestions(await thread.run({ input: {} })).length, 3);
});

test("a state update while a question waits puts the thread at the breakpoint behind that node", async () => {
  const thread = await newThread(server, "series");
  await thread.run({ input: {} });
  const update = await call(server, "POST", `${thread.path}/state`, {
    values: { answers: ["by hand"] },
    as_node: "one",
  });
  assert.equal(update.status, 200, update.text);
  assert.deepEqual([(await thread.state()).next, await thread.open()], [["two"], []]);
  const question = onlyQuestion(await thread.run({ input: null }));
  checkElement(question, ["two"]);
  assert.deepEqual((await thread.state()).values["answers"], ["by hand"]);
});

test("a resume may bring an update and a goto along", async () => {
  const thread = await newThread(server, "series");
  await thread.run({ input: {} });
  const paused = await thread.run({ command: { resume: "a", update: { answers: ["updated"] } } });
  checkElement(onlyQuestion(paused), ["two"]);
  assert.deepEqual(new Set(paused["answers"] as string[]), new Set(["updated", "a"]));
});

for (const durability of ["sync", "async", "exit"]) {
  for (const graph of ["parallel", "deep", "two_in_one_node"]) {
    test(`a pause is stored and answered with durability ${durability}: ${graph}`, async () => {
      const thread = await newThread(server, graph);
      const notes = newNotes(folder);
      let result = await thread.run({ input: { notes: notes.notes }, durability });
      for (let round = 0; round < 4 && result.__interrupt__ !== undefined; round++) {
        await checkShown(thread, result);
        const [first] = listQuestions(result);
        assert.ok(first);
        result = await thread.run({ command: { resume: { [first.id]: round } }, durability });
      }
      assert.equal(result.__error__, undefined);
      assert.equal(result.__interrupt__, undefined);
      assert.deepEqual((await thread.state()).values, result);
      for (const once of ["quiet", "prepare", "after", "collect"]) assert.ok(notes.count(once) <= 1, once);
    });
  }
}

test("an answer as a fork that would reach nobody is refused, and changes nothing (interrupts.4)", async () => {
  for (const graph of ["deep", "two_in_one_node"]) {
    const thread = await newThread(server, graph);
    const notes = newNotes(folder);
    const first = onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
    await thread.resume({ [first.id]: "one" });
    const end = await thread.resume("two");
    assert.equal(end.__interrupt__, undefined);
    const before = await thread.picture();
    const asking = (await thread.history()).filter(({ next }) => next.length > 0);
    for (const { checkpoint } of asking) {
      const command = { resume: { [first.id]: "again" }, fork: true };
      const refused = await thread.wait({ checkpoint_id: checkpoint.checkpoint_id, command });
      assert.deepEqual([refused.status, readProblem(refused).code], [409, "interrupt_stale"], refused.text);
    }
    assert.deepEqual(await thread.picture(), before);
    const audit = (await call(server, "GET", `${thread.path}/audit`)).text;
    assert.match(audit, /answered/);
    assert.doesNotMatch(audit, /answered_as_fork/);
  }
});
