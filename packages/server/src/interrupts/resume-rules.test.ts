// Tests of the decision about an answer. Checked: agent/resume-rules.1 to agent/resume-rules.4, on rows alone;
// test/interrupts/resume-rules.test.ts has the same over HTTP.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ApiError, type ErrorCode } from "@holdpoint/base/api-error.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt, PauseKind, Review, Thread, ThreadStatus } from "../model/model.ts";
import { interruptRecord, threadRecord } from "../model/testkit.ts";
import { RefusedAnswers } from "./problem-details.ts";
import { acceptAnswers, olderCheckpoint } from "./resume-rules.ts";

const AT_OPEN_PAUSE = { olderCheckpoint: null, fork: false } as const;

const ids = {
  a: "a".repeat(32),
  b: "b".repeat(32),
  old: "0".repeat(32),
  gone: "9".repeat(32),
  unknown: "f".repeat(32),
};

function thread(status: ThreadStatus, pause: PauseKind | null = null): Thread {
  return threadRecord({ threadId: "t", graphId: "g", assistantId: "s", checkpointId: "now", status, pause });
}

function question(interruptId: string, changes: Partial<Interrupt> = {}): Interrupt {
  const at = { checkpointId: "now", rootCheckpointId: "now", runId: "asker", createdAt: 0 };
  const task = { taskId: `task ${interruptId[0]}`, node: "node", ns: ["node:uuid"], value: "?" };
  return interruptRecord({ threadId: "t", interruptId, ...at, ...task, ...changes });
}

const answer = { runId: "earlier", at: 1000, by: "ann", value: { said: ["yes"] } };
const old = question(ids.old, { state: "answered", answer, checkpointId: "past", rootCheckpointId: "past" });
const gone = question(ids.gone, { state: "abandoned", rootCheckpointId: "past" });
const one = [old, gone, question(ids.a)];
const several = [...one, question(ids.b, { position: 1 })];
const closed = [old, gone, question(ids.a, { state: "answered", answer })];

const rules: Review = {
  assignees: [["ann"]],
  approvals: 1,
  rejections: 1,
  fourEyes: false,
  excluded: [],
  escalations: [],
  votes: [],
  fault: null,
};
const swappedFrom = (changes: Partial<Interrupt>, now: Partial<Interrupt> = {}) => [
  question(ids.gone, { state: "abandoned", taskId: "task a", ...changes }),
  question(ids.a, now),
];

const paused = thread("interrupted", "question");
const none = { idle: thread("idle"), busy: thread("busy"), error: thread("error") };
const stopped = thread("interrupted", "breakpoint");

interface Case {
  readonly name: string;
  readonly thread: Thread;
  readonly known: readonly Interrupt[];
  readonly resume: Json;
  readonly fork?: string;
  /** An older checkpoint, without the word to fork. */
  readonly late?: string;
  /** Answers taken by id, or the code of the refusal. */
  readonly gives: ErrorCode | JsonObject;
}

const CASES: readonly Case[] = [
  { name: "one open, bare", thread: paused, known: one, resume: "x", gives: { [ids.a]: "x" } },
  { name: "one open, null", thread: paused, known: one, resume: null, gives: { [ids.a]: null } },
  { name: "one open, {}", thread: paused, known: one, resume: {}, gives: { [ids.a]: {} } },
  { name: "one open, by id", thread: paused, known: one, resume: { [ids.a]: false }, gives: { [ids.a]: false } },
  {
    name: "replaced, bare (agent/resume-rules.2)",
    thread: paused,
    known: swappedFrom({}),
    resume: "x",
    gives: { [ids.a]: "x" },
  },
  {
    name: "replaced under rules, bare (agent/resume-rules.2)",
    thread: paused,
    known: swappedFrom({ review: rules }, { review: rules }),
    resume: "x",
    gives: "answer_ambiguous",
  },
  {
    name: "replaced, rules only now, bare (agent/resume-rules.2)",
    thread: paused,
    known: swappedFrom({}, { review: rules }),
    resume: "x",
    gives: "answer_ambiguous",
  },
  {
    name: "replaced, rules only before, bare (agent/resume-rules.2)",
    thread: paused,
    known: swappedFrom({ review: rules }),
    resume: "x",
    gives: "answer_ambiguous",
  },
  {
    name: "replaced under rules, by id (agent/resume-rules.2)",
    thread: paused,
    known: swappedFrom({ review: rules }, { review: rules }),
    resume: { [ids.a]: "x" },
    gives: { [ids.a]: "x" },
  },
  {
    name: "rules, another place given up, bare (agent/resume-rules.2)",
    thread: paused,
    known: [gone, question(ids.a, { review: rules })],
    resume: "x",
    gives: { [ids.a]: "x" },
  },
  {
    name: "several open, bare (agent/resume-rules.2)",
    thread: paused,
    known: several,
    resume: "x",
    gives: "answer_ambiguous",
  },
  { name: "several open, one", thread: paused, known: several, resume: { [ids.b]: 2 }, gives: { [ids.b]: 2 } },
  {
    name: "several open, all",
    thread: paused,
    known: several,
    resume: { [ids.b]: 2, [ids.a]: 1 },
    gives: { [ids.a]: 1, [ids.b]: 2 },
  },
  {
    name: "answered before (agent/resume-rules.3)",
    thread: paused,
    known: one,
    resume: { [ids.old]: 1 },
    gives: "interrupt_stale",
  },
  {
    name: "abandoned before (agent/resume-rules.3)",
    thread: paused,
    known: one,
    resume: { [ids.gone]: 1 },
    gives: "interrupt_stale",
  },
  {
    name: "never asked (agent/resume-rules.3)",
    thread: paused,
    known: one,
    resume: { [ids.unknown]: 1 },
    gives: "interrupt_unknown",
  },
  {
    name: "open and stale (agent/resume-rules.4)",
    thread: paused,
    known: one,
    resume: { [ids.a]: 1, [ids.old]: 1 },
    gives: "interrupt_stale",
  },
  {
    name: "open and unknown (agent/resume-rules.4)",
    thread: paused,
    known: one,
    resume: { [ids.a]: 1, [ids.unknown]: 1 },
    gives: "interrupt_unknown",
  },
  {
    name: "idle, bare (agent/resume-rules.1)",
    thread: none.idle,
    known: closed,
    resume: "x",
    gives: "no_pending_interrupt",
  },
  { name: "idle, nothing ever asked", thread: none.idle, known: [], resume: "x", gives: "no_pending_interrupt" },
  { name: "idle, by id", thread: none.idle, known: closed, resume: { [ids.a]: 1 }, gives: "interrupt_stale" },
  { name: "busy, bare (agent/resume-rules.1)", thread: none.busy, known: one, resume: "x", gives: "thread_busy" },
  { name: "busy, by id", thread: none.busy, known: one, resume: { [ids.a]: 1 }, gives: "thread_busy" },
  { name: "busy, unknown id", thread: none.busy, known: one, resume: { [ids.unknown]: 1 }, gives: "interrupt_unknown" },
  { name: "error, bare", thread: none.error, known: closed, resume: "x", gives: "no_pending_interrupt" },
  { name: "error, by id", thread: none.error, known: one, resume: { [ids.a]: 1 }, gives: "interrupt_stale" },
  { name: "breakpoint, bare", thread: stopped, known: closed, resume: "x", gives: "no_pending_interrupt" },
  { name: "breakpoint, {}", thread: stopped, known: [], resume: {}, gives: "no_pending_interrupt" },
  {
    name: "fork on an idle thread",
    thread: none.idle,
    known: closed,
    resume: "x",
    fork: "past",
    gives: "answer_ambiguous",
  },
  {
    name: "fork by id",
    thread: none.idle,
    known: closed,
    resume: { [ids.old]: 3 },
    fork: "past",
    gives: { [ids.old]: 3 },
  },
  {
    name: "fork on a paused thread",
    thread: paused,
    known: one,
    resume: { [ids.old]: 3 },
    fork: "past",
    gives: { [ids.old]: 3 },
  },
  {
    name: "fork at a breakpoint",
    thread: stopped,
    known: closed,
    resume: { [ids.old]: 3 },
    fork: "past",
    gives: { [ids.old]: 3 },
  },
  {
    name: "fork, with an id of now",
    thread: paused,
    known: one,
    resume: { [ids.a]: 3 },
    fork: "past",
    gives: "interrupt_stale",
  },
  {
    name: "fork on a busy thread",
    thread: none.busy,
    known: one,
    resume: { [ids.old]: 3 },
    fork: "past",
    gives: "thread_busy",
  },
  {
    name: "fork on a failed thread",
    thread: none.error,
    known: one,
    resume: { [ids.old]: 3 },
    fork: "past",
    gives: "no_pending_interrupt",
  },
  {
    name: "older checkpoint, bare, idle (agent/resume-rules.5)",
    thread: none.idle,
    known: closed,
    resume: "x",
    late: "past",
    gives: "interrupt_stale",
  },
  {
    name: "older checkpoint, by id, another question open (agent/resume-rules.5)",
    thread: paused,
    known: one,
    resume: { [ids.old]: 3 },
    late: "past",
    gives: "interrupt_stale",
  },
  {
    name: "older checkpoint, id of the open question (agent/resume-rules.5)",
    thread: paused,
    known: one,
    resume: { [ids.a]: 3 },
    late: "past",
    gives: "interrupt_stale",
  },
  {
    name: "older checkpoint, busy (agent/resume-rules.5)",
    thread: none.busy,
    known: one,
    resume: "x",
    late: "past",
    gives: "thread_busy",
  },
  {
    name: "older checkpoint, breakpoint (agent/resume-rules.5)",
    thread: stopped,
    known: closed,
    resume: "x",
    late: "past",
    gives: "interrupt_stale",
  },
  {
    name: "older checkpoint, unknown id",
    thread: paused,
    known: one,
    resume: { [ids.unknown]: 3 },
    late: "past",
    gives: "interrupt_unknown",
  },
  {
    name: "older checkpoint where nothing was asked",
    thread: paused,
    known: one,
    resume: "x",
    late: "start",
    gives: "no_pending_interrupt",
  },
  {
    name: "fork where nothing was asked",
    thread: none.idle,
    known: closed,
    resume: "x",
    fork: "start",
    gives: "no_pending_interrupt",
  },
];

function catchRefusal(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "it was not refused" });
}

suite("is the answer taken?", () => {
  for (const { name, thread: at, known, resume, fork = null, late = null, gives } of CASES) {
    const aim = { olderCheckpoint: late ?? fork, fork: fork !== null };
    test(`${name} → ${JSON.stringify(gives)}`, () => {
      if (typeof gives === "string") {
        assert.equal(catchRefusal(() => acceptAnswers(at, known, resume, aim)).code, gives);
        return;
      }
      const { answers, interrupts } = acceptAnswers(at, known, resume, aim);
      assert.deepEqual(Object.fromEntries(answers.map((given) => [given.interruptId, given.value])), gives);
      assert.deepEqual(
        interrupts.map(({ interruptId }) => interruptId),
        answers.map(({ interruptId }) => interruptId),
      );
      for (const given of answers) assert.equal(given.taskId, `task ${given.interruptId[0]}`);
    });
  }
});

test("at an older checkpoint a task's last question counts, and a bare value goes to it", () => {
  const first = question(ids.a, { rootCheckpointId: "past", state: "answered", answer });
  const second = question(ids.b, {
    libraryId: ids.a,
    taskId: first.taskId,
    index: 1,
    rootCheckpointId: "past",
    state: "answered",
    answer,
  });
  const { answers } = acceptAnswers(none.idle, [first, second], "again", { olderCheckpoint: "past", fork: true });
  assert.deepEqual(
    answers.map(({ interruptId, index, value }) => [interruptId, index, value]),
    [[ids.b, 1, "again"]],
  );
});

test("an answer that names the checkpoint of its question, at the root or below, is no fork", () => {
  const below = question(ids.a, { graphNs: "child:1", checkpointId: "inner", rootCheckpointId: "now" });
  const resume = { kind: "resume", resume: "x" } as const;
  const at = { ...paused, checkpointId: "now" };
  const named = (checkpointId: string | null, sub?: string) => ({
    checkpointId,
    subgraph: sub === undefined ? null : { ns: "child:1", checkpointId: sub, map: {} },
  });
  for (const [call, older] of [
    [named(null), null],
    [named("now"), null],
    [named("now", "inner"), null],
    [named("past"), "past"],
    [named("now", "earlier"), "now"],
  ] as const) {
    assert.equal(olderCheckpoint(call, at, [below], resume), older, JSON.stringify(call));
  }
  assert.equal(olderCheckpoint(named("now", "earlier"), at, [below], { kind: "continue" }), null);
});

test("a refusal of several answers names each refused interrupt, and no other", () => {
  const strict = question(ids.b, { responseSchema: { type: "number" } });
  const known = [old, question(ids.a), strict];
  const error = catchRefusal(() =>
    acceptAnswers(paused, known, { [ids.a]: 1, [ids.old]: 2, [ids.b]: "3" }, AT_OPEN_PAUSE),
  );
  assert.ok(error instanceof RefusedAnswers);
  const codes = [...error.byInterrupt].map(([id, { code }]) => [id, code]);
  assert.deepEqual(codes, [
    [ids.old, "interrupt_stale"],
    [ids.b, "answer_invalid"],
  ]);
  assert.equal(error.code, "interrupt_stale");
});

test("a refusal lists the open interrupts, and the run that answered an interrupt", () => {
  const value = { said: ["yes"] };
  for (const resume of [value, { [ids.a]: value }]) {
    const { extra, headers } = catchRefusal(() => acceptAnswers(none.idle, closed, resume, AT_OPEN_PAUSE));
    assert.deepEqual(extra["pending"], []);
    const { run_id: runId, same_value: same, by } = extra["answered"] as JsonObject;
    assert.deepEqual([runId, same, by], ["earlier", true, "ann"]);
    assert.equal(headers["Location"], "/threads/t/runs/earlier/join");
  }
  const other = catchRefusal(() => acceptAnswers(none.idle, closed, "other", AT_OPEN_PAUSE));
  assert.equal((other.extra["answered"] as JsonObject)["same_value"], false);
  const stale = catchRefusal(() => acceptAnswers(paused, several, { [ids.gone]: 1 }, AT_OPEN_PAUSE));
  assert.equal(stale.extra["answered"], undefined, "it was never answered");
  assert.deepEqual(
    (stale.extra["pending"] as readonly JsonObject[]).map(({ id }) => id),
    [ids.a, ids.b],
  );
});

test("an answer that violates the interrupt's schema refuses the whole call (agent/resume-rules.4)", () => {
  const strict = question(ids.b, {
    responseSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
  });
  const known = [question(ids.a), strict];
  const error = catchRefusal(() => acceptAnswers(paused, known, { [ids.a]: 1, [ids.b]: { ok: "yes" } }, AT_OPEN_PAUSE));
  assert.equal(error.code, "answer_invalid");
  assert.equal(error.extra["interrupt_id"], ids.b);
  assert.equal((error.extra["errors"] as readonly JsonObject[])[0]?.["path"], "ok");
  assert.equal(acceptAnswers(paused, known, { [ids.a]: 1, [ids.b]: { ok: true } }, AT_OPEN_PAUSE).answers.length, 2);
});

test("a schema that cannot be read refuses nothing", () => {
  const odd = question(ids.a, { responseSchema: { $ref: "https://example.com/schema" } });
  assert.equal(acceptAnswers(paused, [odd], "x", AT_OPEN_PAUSE).answers.length, 1);
});

test("a form can show the message of a fault without the schema", () => {
  const responseSchema = {
    type: "object",
    properties: { amount: { type: "number" }, kind: { enum: ["a", "b"] } },
    required: ["amount"],
  };
  const known = [question(ids.a, { responseSchema })];
  for (const [answer, words] of [
    [{ amount: "12" }, /: amount should be a number, and is the text "12"\.$/],
    [{}, /: amount is missing\.$/],
    ["12", /: the answer should be an object, and is the text "12"\.$/],
    [{ amount: 1, kind: "c" }, /: kind should be one of \["a","b"\]\.$/],
  ] as const) {
    const error = catchRefusal(() => acceptAnswers(paused, known, answer, AT_OPEN_PAUSE));
    assert.match(error.message, words);
    assert.equal(error.extra["response_schema"], undefined);
    assert.match(String(error.extra["see"]), new RegExp(`/inbox/.*/${ids.a}$`));
  }
});
