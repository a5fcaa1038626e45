// Tests of the resume rules: every state of a thread × every form of a request, over real HTTP.
// Rules:
//   test/resume-rules.1. The table below holds, cell by cell.
//   test/resume-rules.2. A rejection changes nothing: thread, state, history and runs stay the same.
//   test/resume-rules.3. An accepted request has the effect of its cell.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { ErrorCode } from "@holdpoint/base/api-error.ts";
import { call, removeFolder, temporaryFolder, type Answer } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import {
  newThread,
  onlyQuestion,
  readProblem,
  until,
  type Result,
  type TestThread,
  type WireRun,
} from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const server = await startServerHere();
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

interface Situation {
  readonly thread: TestThread;
  /** Ids of the questions that are open. */
  readonly open: readonly string[];
  /** An answered interrupt; a well-formed unknown id when there is none. */
  readonly stale: string;
  /** The checkpoint of the stale interrupt. */
  readonly older: string;
  /** The checkpoint that the thread shows. */
  readonly newest: string;
  /** The run in progress. */
  readonly busy: WireRun | null;
}

const UNKNOWN = "0123456789abcdef0123456789abcdef";
const NO_CHECKPOINT = "11111111-1111-6111-8111-111111111111";

/** A thread with an answered interrupt, and then this input. */
async function withPast(input: object, extra: object = {}): Promise<Situation & { readonly result: Result }> {
  const thread = await newThread(server, "rules");
  const question = onlyQuestion(await thread.run({ input: { mode: "one" } }));
  const older = (await thread.state()).checkpoint.checkpoint_id;
  await thread.resume("past");
  const result = await thread.run({ input, ...extra });
  const open = (result.__interrupt__ ?? []).map(({ id }) => id);
  const newest = (await thread.state()).checkpoint.checkpoint_id;
  return { thread, open, stale: question.id, older, newest, busy: null, result };
}

const SITUATIONS = {
  "never run": async (): Promise<Situation> => {
    const thread = await newThread(server, "rules");
    return { thread, open: [], stale: UNKNOWN, older: NO_CHECKPOINT, newest: NO_CHECKPOINT, busy: null };
  },
  idle: () => withPast({ mode: "done" }),
  busy: async (): Promise<Situation> => {
    const past = await withPast({ mode: "done" });
    const busy = await past.thread.begin({ input: { mode: "busy" } });
    await until("the busy node has begun and everything before it is stored", async () => {
      const [one, two] = [await past.thread.picture(), await past.thread.picture()];
      return isDeepStrictEqual(one, two) && (await past.thread.state()).next[0] === "open" ? true : undefined;
    });
    return { ...past, busy };
  },
  "at one question": () => withPast({ mode: "one" }),
  "at several questions": () => withPast({ mode: "several" }),
  "at a breakpoint": () => withPast({ mode: "straight" }, { interrupt_before: ["close"] }),
  error: () => withPast({ mode: "fail" }),
} as const satisfies Record<string, () => Promise<Situation>>;

type Name = keyof typeof SITUATIONS;

/** The status in each situation, which verifies the set-up. */
const STATUS: Readonly<Record<Name, string>> = {
  "never run": "idle",
  idle: "idle",
  busy: "busy",
  "at one question": "interrupted",
  "at several questions": "interrupted",
  "at a breakpoint": "interrupted",
  error: "error",
};

/** As `useStream` of the SDK sends the checkpoint that it shows. */
const sdkForm = (checkpointId: string) => ({
  checkpoint_id: checkpointId,
  checkpoint_ns: "",
  checkpoint_map: null,
});

const answerAll = (open: readonly string[]) => Object.fromEntries(open.map((id) => [id, "right"]));

const REQUESTS = {
  "new input": () => ({ input: { mode: "done" } }),
  "bare value": () => ({ command: { resume: "yes" } }),
  "bare null": () => ({ command: { resume: null } }),
  "map with every open id": ({ open }) => ({ command: { resume: answerAll(open) } }),
  "map with the first open id": ({ open }) => ({ command: { resume: answerAll(open.slice(0, 1)) } }),
  "map with a stale id": ({ stale }) => ({ command: { resume: { [stale]: "late" } } }),
  "map with an unknown id": () => ({ command: { resume: { [UNKNOWN]: 1 } } }),
  "map with open and stale ids": ({ open, stale }) => ({ command: { resume: { ...answerAll(open), [stale]: 1 } } }),
  "map with open and unknown ids": ({ open }) => ({ command: { resume: { ...answerAll(open), [UNKNOWN]: 1 } } }),
  "input null": () => ({ input: null }),
  "input left out": () => ({}),
  "empty command": () => ({ input: null, command: { lg_name: "Command", goto: [], update: null } }),
  "input {} and a bare value": () => ({ input: {}, command: { resume: "yes" } }),
  "other input and a bare value": () => ({ input: { mode: "done" }, command: { resume: "yes" } }),
  "input [] and a bare value": () => ({ input: [], command: { resume: "yes" } }),
  update: () => ({ command: { update: { answers: ["by hand"] } } }),
  goto: () => ({ command: { goto: "close" } }),
  "goto an unknown node": () => ({ command: { goto: "nowhere" } }),
  "newest checkpoint, bare value": ({ newest }) => ({ command: { resume: "yes" }, checkpoint: sdkForm(newest) }),
  "newest checkpoint, map": ({ newest, open }) => ({
    command: { resume: answerAll(open) },
    checkpoint: sdkForm(newest),
  }),
  "older checkpoint, bare value": ({ older }) => ({ command: { resume: "again" }, checkpoint: sdkForm(older) }),
  "older checkpoint, map": ({ older, stale }) => ({
    command: { resume: { [stale]: "again" } },
    checkpoint: { checkpoint_id: older },
  }),
  "older checkpoint, every open id": ({ older, open }) => ({
    command: { resume: answerAll(open) },
    checkpoint: { checkpoint_id: older },
  }),
  "older checkpoint, bare value, fork": ({ older }) => ({
    command: { resume: "again", fork: true },
    checkpoint_id: older,
  }),
  "older checkpoint, map, fork": ({ older, stale }) => ({
    command: { resume: { [stale]: "again" }, fork: true },
    checkpoint: { checkpoint_id: older },
  }),
  "bare value, fork": () => ({ command: { resume: "yes", fork: true } }),
  "older checkpoint, input null": ({ older }) => ({ input: null, checkpoint_id: older }),
  "older checkpoint, new input": ({ older }) => ({ input: { mode: "done" }, checkpoint_id: older }),
  "unknown checkpoint": () => ({ input: null, checkpoint_id: NO_CHECKPOINT.replaceAll("1", "2") }),
  "another graph, bare value": () => ({ assistant_id: "agent", command: { resume: "yes" } }),
  "another graph, new input": () => ({ assistant_id: "steps", input: {} }),
} as const satisfies Record<string, (situation: Situation) => object>;

type Request = keyof typeof REQUESTS;

/** The code of a rejection, or the outcome of the accepted run. */
type Cell = ErrorCode | "done" | "queued" | "fails" | "asks 1" | "asks 2";
const ambiguous = "answer_ambiguous";
const asks1 = "asks 1";
const asks2 = "asks 2";
const noPoint = "checkpoint_not_found";
const done = "done";
const fails = "fails";
const otherGraph = "graph_incompatible";
const stale = "interrupt_stale";
const unknown = "interrupt_unknown";
const none = "no_pending_interrupt";
const noNode = "node_unknown";
const nothing = "nothing_to_continue";
const queued = "queued";
const busy = "thread_busy";

/** One column a situation, in the order of SITUATIONS. */
const TABLE = {
  "new input": [done, done, queued, done, done, done, done],
  "bare value": [none, none, busy, done, ambiguous, done, none],
  "bare null": [none, none, busy, done, ambiguous, done, none],
  "map with every open id": [none, none, busy, done, done, done, none],
  "map with the first open id": [none, none, busy, done, asks1, done, none],
  "map with a stale id": [unknown, stale, busy, stale, stale, stale, stale],
  "map with an unknown id": [unknown, unknown, unknown, unknown, unknown, unknown, unknown],
  "map with open and stale ids": [unknown, stale, busy, stale, stale, stale, stale],
  "map with open and unknown ids": [unknown, unknown, unknown, unknown, unknown, unknown, unknown],
  "input null": [nothing, done, queued, asks1, asks2, done, fails],
  "input left out": [nothing, done, queued, asks1, asks2, done, fails],
  "empty command": [nothing, done, queued, asks1, asks2, done, fails],
  "input {} and a bare value": [none, none, busy, done, ambiguous, done, none],
  "other input and a bare value": [none, none, busy, done, ambiguous, done, none],
  "input [] and a bare value": [none, none, busy, done, ambiguous, done, none],
  update: [done, done, queued, asks1, asks2, done, fails],
  goto: [done, done, queued, asks1, asks2, done, fails],
  "goto an unknown node": [noNode, noNode, noNode, noNode, noNode, noNode, noNode],
  "newest checkpoint, bare value": [noPoint, none, busy, done, ambiguous, done, none],
  "newest checkpoint, map": [noPoint, none, busy, done, done, done, none],
  "older checkpoint, bare value": [noPoint, stale, busy, stale, stale, stale, stale],
  "older checkpoint, map": [noPoint, stale, busy, stale, stale, stale, stale],
  "older checkpoint, every open id": [noPoint, stale, busy, stale, stale, stale, stale],
  "older checkpoint, bare value, fork": [noPoint, done, busy, done, done, done, none],
  "older checkpoint, map, fork": [noPoint, done, busy, done, done, done, none],
  "bare value, fork": [none, none, busy, done, ambiguous, done, none],
  "older checkpoint, input null": [noPoint, asks1, queued, asks1, asks1, asks1, asks1],
  "older checkpoint, new input": [noPoint, done, queued, done, done, done, done],
  "unknown checkpoint": [noPoint, noPoint, noPoint, noPoint, noPoint, noPoint, noPoint],
  "another graph, bare value": [none, none, busy, otherGraph, ambiguous, otherGraph, none],
  "another graph, new input": [done, done, queued, done, done, done, done],
} as const satisfies Record<Request, readonly [Cell, Cell, Cell, Cell, Cell, Cell, Cell]>;

async function nameOutcome(situation: Situation, answer: Answer): Promise<string> {
  if (answer.status !== 200) {
    assert.equal(answer.status, readProblem(answer).status, answer.text);
    return readProblem(answer).code;
  }
  const run: WireRun = answer.body;
  if (situation.busy !== null) return run.status === "pending" ? "queued" : `not queued but ${run.status}`;
  const result = await situation.thread.join(run);
  if (result.__error__ !== undefined) return "fails";
  if (result.__interrupt__ === undefined) return "done";
  return result.__interrupt__.length === 0 ? "stops" : `asks ${result.__interrupt__.length}`;
}

/** Frees its slot. */
async function discard({ thread, busy }: Situation): Promise<void> {
  if (busy !== null) await call(server, "DELETE", thread.path);
}

for (const [column, name] of (Object.keys(SITUATIONS) as Name[]).entries()) {
  suite(`a thread that is ${name}`, () => {
    /** Unchanged by a rejection, and therefore also the situation of the next request. */
    let unchanged: Situation | null = null;
    after(async () => {
      if (unchanged !== null) await discard(unchanged);
    });
    for (const request of Object.keys(REQUESTS) as Request[]) {
      const cell = TABLE[request][column];
      test(`${request} → ${cell} (test/resume-rules.1)`, PATIENCE, async () => {
        const situation = unchanged ?? (await SITUATIONS[name]());
        unchanged = null;
        const { thread } = situation;
        assert.equal((await thread.get()).status, STATUS[name]);
        const before = await thread.picture();
        const body = { assistant_id: "rules", ...REQUESTS[request](situation) };
        const answer = await call(server, "POST", `${thread.path}/runs`, body);
        const outcome = await nameOutcome(situation, answer);
        assert.equal(outcome, cell);
        if (answer.status === 200) return discard(situation);
        assert.deepEqual(await thread.picture(), before); // test/resume-rules.2
        unchanged = situation;
      });
    }
  });
}

// The effects of the cells (test/resume-rules.3), and the texts of rejections.

const readAnswerValues = (result: Result): unknown => result["answers"];

test("an answer goes to its question and to no other", PATIENCE, async () => {
  const { thread, result } = await withPast({ mode: "several" });
  const [first, second] = result.__interrupt__ ?? [];
  assert.ok(first && second);
  const partly = await thread.resume({ [second.id]: "to 2" });
  assert.equal(onlyQuestion(partly).id, first.id);
  const end = await thread.resume("to 1");
  assert.deepEqual(readAnswerValues(end), ["past", "closed", "to 1", "to 2", "closed"]);
});

test("a second answer gets the run with the first, and whether both were equal", PATIENCE, async () => {
  const thread = await newThread(server, "rules");
  const question = onlyQuestion(await thread.run({ input: { mode: "one" } }));
  const won = await thread.begin({ command: { resume: { decision: ["yes"] } } });
  await thread.join(won);
  const retries = [
    { resume: { decision: ["yes"] }, same: true },
    { resume: { decision: ["no"] }, same: false },
    { resume: { [question.id]: { decision: ["yes"] } }, same: true },
    { resume: { [question.id]: null }, same: false },
  ];
  for (const { resume, same } of retries) {
    const answer = await thread.wait({ command: { resume } });
    const problem = readProblem(answer);
    assert.equal(answer.status, 409);
    assert.deepEqual(problem.pending, []);
    assert.equal(problem.answered?.interrupt_id, question.id);
    assert.equal(problem.answered?.run_id, won.run_id);
    assert.equal(problem.answered?.same_value, same, JSON.stringify(resume));
    const again = await call(server, "GET", answer.headers.get("location") ?? "");
    assert.deepEqual(again.body, await thread.join(won));
  }
});

test("a rejected answer lists the open interrupts", PATIENCE, async () => {
  const { thread, result } = await withPast({ mode: "several" });
  const answer = await thread.wait({ command: { resume: "for whom?" } });
  assert.deepEqual(readProblem(answer).pending, result.__interrupt__);
  const unknown = await thread.wait({ command: { resume: { [UNKNOWN]: 1 } } });
  assert.deepEqual(readProblem(unknown).pending, result.__interrupt__);
});

test("one of fifty concurrent answers is accepted, in any form", PATIENCE, async () => {
  const thread = await newThread(server, "rules");
  const question = onlyQuestion(await thread.run({ input: { mode: "one" } }));
  const calls = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? at : { [question.id]: at }));
  const answers = await Promise.all(calls.map((resume) => thread.wait({ command: { resume } })));
  const winners = answers.filter(({ status }) => status === 200);
  assert.equal(winners.length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 49);
  const winner = answers.findIndex(({ status }) => status === 200);
  const [result] = winners.map(({ body }): Result => body);
  assert.ok(result);
  assert.deepEqual(readAnswerValues(result), [winner, "closed"]);
});

for (const strategy of ["enqueue", "reject", "interrupt", "rollback"]) {
  test(`an answer to a busy thread is refused with multitask_strategy ${strategy} too`, PATIENCE, async (t) => {
    const { thread, stale, busy } = await SITUATIONS.busy();
    t.after(() => call(server, "DELETE", thread.path));
    const before = await thread.picture();
    for (const resume of ["x", { [stale]: "x" }]) {
      const answer = await thread.wait({ command: { resume }, multitask_strategy: strategy });
      assert.equal(readProblem(answer).code, "thread_busy");
    }
    assert.deepEqual(await thread.picture(), before);
    assert.ok(busy);
  });
}

test("a run queued on a busy thread waits while that is paused, and continues after the answer", PATIENCE, async () => {
  const thread = await newThread(server, "rules");
  const gate = join(folder, "gate");
  const first = await thread.begin({ input: { mode: "late", gate } });
  const held = await thread.begin({ input: { mode: "done" } });
  writeFileSync(gate, "");
  const question = onlyQuestion(await thread.join(first));
  assert.equal((await thread.get()).status, "interrupted");
  const readRunStatus = async (run: WireRun) =>
    (await thread.runs()).find(({ run_id }) => run_id === run.run_id)?.status;
  assert.equal(await readRunStatus(held), "pending");
  const answered = await thread.resume({ [question.id]: "first" });
  assert.deepEqual(readAnswerValues(answered), ["first", "closed"]);
  await thread.join(held);
  assert.equal(await readRunStatus(held), "success");
  assert.equal((await thread.get()).status, "idle");
});

test("multitask_strategy reject, interrupt and rollback on a busy thread", PATIENCE, async (t) => {
  const rejected = await SITUATIONS.busy();
  t.after(() => call(server, "DELETE", rejected.thread.path));
  const before = await rejected.thread.picture();
  const refusal = await rejected.thread.wait({ input: { mode: "done" }, multitask_strategy: "reject" });
  assert.equal(readProblem(refusal).code, "thread_busy");
  assert.deepEqual(await rejected.thread.picture(), before);

  for (const [strategy, status, endedBy, error] of [
    ["interrupt", "interrupted", "cancel", "Cancelled"],
    ["rollback", "error", "rollback", "RolledBack"],
  ] as const) {
    const { thread, busy } = await SITUATIONS.busy();
    assert.ok(busy);
    const waiting = thread.join(busy);
    const steps = (await thread.history()).length;
    const result = await thread.run({ input: { mode: "done" }, multitask_strategy: strategy });
    assert.deepEqual(readAnswerValues(result), ["past", "closed"]);
    assert.equal((await waiting).__error__?.error, error);
    const old = (await thread.runs()).find(({ run_id }) => run_id === busy.run_id);
    assert.deepEqual([old?.status, old?.ended_by], [status, endedBy]);
    const own = (await thread.history()).filter(({ metadata }) => metadata["run_id"] === busy.run_id);
    assert.equal(own.length, strategy === "rollback" ? 0 : 2, "rollback takes back what the run wrote");
    assert.ok(steps > 0);
    assert.equal((await thread.get()).status, "idle");
  }
});

test("a fork answers the older interrupt again; the pause after it ends (rule 6)", PATIENCE, async () => {
  const { thread, older, stale, open } = await withPast({ mode: "several" });
  const end = await thread.run({ command: { resume: "other past", fork: true }, checkpoint_id: older });
  assert.deepEqual(readAnswerValues(end), ["other past", "closed"]);
  assert.equal((await thread.get()).status, "idle");
  const parents = (await thread.history()).filter((state) => state.parent_checkpoint?.checkpoint_id === older);
  assert.equal(parents.length, 2, "two ways lead on from the older checkpoint");
  for (const id of [...open, stale]) {
    assert.equal(readProblem(await thread.wait({ command: { resume: { [id]: 1 } } })).code, "interrupt_stale");
  }
});

test("the newest checkpoint is not a fork (rule 6)", PATIENCE, async () => {
  const { thread, open } = await withPast({ mode: "several" });
  const newest = (await thread.state()).checkpoint.checkpoint_id;
  const partly = await thread.run({ command: { resume: { [open[0] ?? ""]: 1 } }, checkpoint_id: newest });
  assert.equal(onlyQuestion(partly).id, open[1]);
});
