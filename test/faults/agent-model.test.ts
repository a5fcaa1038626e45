// Random sequences of calls against a pure model of thread, run and interrupt (promises A5, A6, A13, A28).
//   agent-model.1. The server answers every call as the model foretells: status, code, thread status, open questions,
//        answers used.
//   agent-model.2. A question keeps its id as long as it is open, and no two questions of a thread ever share one.
//   agent-model.3. A refused call changes nothing visible, nor does a kill with a restart.
// A failure prints the seed and the path of the counterexample; HOLDPOINT_TEST_SEED repeats a run.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { FULL, seeded, until } from "../harness/faults/fault-server.ts";
import { call, removeFolder, ROOT, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";
import type { WireThread } from "../harness/threads.ts";
import { IS_LONG } from "../harness/long.ts";

/** Some 130 of 300 kill the server, which takes most of the time. */
const SEQUENCES = FULL ? 300 : IS_LONG ? 4 : 2;
const config = join(ROOT, "test", "faults", "graphs", "rounds.json");
const dataDir = temporaryFolder();
let server: TestServer;

before(async () => {
  server = await startServer({ config, dataDir });
});
after(async () => {
  await server.kill(); // a run may be working without end
  removeFolder(dataDir);
});

/** The model's view of the graph: the interrupting round, and its answered places. */
interface Work {
  readonly rounds: number;
  readonly width: number;
  readonly round: number;
  readonly answered: ReadonlyMap<number, unknown>;
  /** Answers of the rounds before. */
  readonly log: readonly unknown[];
}

/**
 * `new`: never ran. `held`: a run works without end. `dropped`: such a run after its cancellation; it can continue.
 */
type Phase = "absent" | "new" | "rest" | "questions" | "breakpoint" | "held" | "dropped";

interface Model {
  phase: Phase;
  work: Work | null;
}

interface Real {
  readonly threadId: string;
  /** Ids seen so far, by generation, round and place. */
  readonly ids: Map<string, string>;
  readonly closed: Set<string>;
  /** Every new input increments it: the same round and position is then another question. */
  generation: number;
  runId: string;
}

const STATUS: Readonly<Record<Exclude<Phase, "absent">, string>> = {
  new: "idle",
  rest: "idle",
  questions: "interrupted",
  breakpoint: "interrupted",
  held: "busy",
  dropped: "idle",
};

const openPlaces = ({ width, answered }: Work): readonly number[] =>
  Array.from({ length: width }, (_, place) => place).filter((place) => !answered.has(place));

/** Uses answers: the round stays paused, the next one interrupts, or the graph ends. */
function use(model: Model, given: ReadonlyMap<number, unknown>): void {
  assert.ok(model.work);
  const work = { ...model.work, answered: new Map([...model.work.answered, ...given]) };
  if (openPlaces(work).length > 0) {
    model.work = work;
    return;
  }
  const log = [...work.log, ...[...work.answered].map(([place, answer]) => [work.round, place, answer])];
  const next: Work = { ...work, round: work.round + 1, answered: new Map(), log };
  model.work = next;
  if (next.round >= next.rounds) model.phase = "rest";
}

/** Position of a graph at its start, or after a breakpoint before its first question. */
const choosePhase = (work: Work): Phase => (work.rounds === 0 ? "rest" : "questions");

const buildRoundKey = (real: Real, round: number, place: number): string => `${real.generation}/${round}/${place}`;

async function post(real: Real, path: string, body: object) {
  return call(server, "POST", `/threads/${real.threadId}${path}`, { assistant_id: "rounds", ...body });
}

function expectRefusal(answer: Awaited<ReturnType<typeof call>>, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal((answer.body as { readonly code: string }).code, code, answer.text);
}

const refusedStatus = (phase: Phase): readonly [number, string] | null => {
  if (phase === "absent") return [404, "thread_not_found"];
  if (phase === "held") return [409, "thread_busy"];
  return phase === "questions" || phase === "breakpoint" ? null : [409, "no_pending_interrupt"];
};

/** agent-model.1, agent-model.2: the visible thread equals the model. */
async function compare(model: Model, real: Real): Promise<void> {
  const answer = await call(server, "GET", `/threads/${real.threadId}`);
  if (model.phase === "absent") return expectRefusal(answer, 404, "thread_not_found");
  assert.equal(answer.status, 200, answer.text);
  const thread: WireThread = answer.body;
  assert.equal(thread.status, STATUS[model.phase], "thread status");
  const shown = Object.values(thread.interrupts).flat();
  const { work } = model;
  const expected = model.phase === "questions" && work !== null ? openPlaces(work) : [];
  const places = shown.map(({ value }) => value as { readonly round: number; readonly place: number });
  assert.deepEqual(
    places,
    expected.map((place) => ({ round: work?.round, place })),
    "open questions, in the order of their tasks",
  );
  for (const [at, { id }] of shown.entries()) noteId(real, places[at], id);
  if (work === null || model.phase === "held" || model.phase === "dropped" || model.phase === "breakpoint") return;
  const current = [...work.answered].map(([place, given]) => [work.round, place, given]);
  const used = (thread.values?.["log"] ?? []) as readonly unknown[];
  assert.deepEqual(sorted(used), sorted([...work.log, ...current]), "answers used");
}

function noteId(real: Real, at: { readonly round: number; readonly place: number } | undefined, id: string): void {
  assert.ok(at);
  const key = buildRoundKey(real, at.round, at.place);
  const known = real.ids.get(key);
  if (known === undefined) {
    assert.ok(![...real.ids.values()].includes(id), "an id names one question");
    real.ids.set(key, id);
  } else assert.equal(id, known, "an open question keeps its id");
}

const sorted = (log: readonly unknown[]): readonly string[] => log.map((entry) => JSON.stringify(entry)).sort();

/** How often each kind of call met each phase. */
const met = new Map<string, number>();

type Command = fc.AsyncCommand<Model, Real>;

/** A command that is always possible; the model decides the expected result. */
function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    toString: () => name,
    async run(model, real) {
      const before = model.phase;
      await run(model, real);
      await compare(model, real);
      const [verb = name] = name.split("(");
      met.set(`${verb} on ${before}`, (met.get(`${verb} on ${before}`) ?? 0) + 1);
    },
  };
}

const create = command("create", async (model, real) => {
  const answer = await call(server, "POST", "/threads", { thread_id: real.threadId });
  if (model.phase !== "absent") return expectRefusal(answer, 409, "thread_exists");
  assert.equal(answer.status, 200, answer.text);
  model.phase = "new";
  model.work = null;
  real.generation++; // forgets the ids of a deleted thread
  real.ids.clear();
  real.closed.clear();
});

const closeAll = (real: Real): void => {
  for (const id of real.ids.values()) real.closed.add(id);
};

const begin = (rounds: number, width: number, breakpoint: boolean): Command =>
  command(`run(${rounds} x ${width}${breakpoint ? ", breakpoint" : ""})`, async (model, real) => {
    const input = { rounds, width, hold: false, log: null };
    const answer = await post(real, "/runs/wait", {
      input,
      multitask_strategy: "reject",
      on_paused: "abandon",
      ...(breakpoint ? { interrupt_before: ["open"] } : {}),
    });
    if (model.phase === "absent") return expectRefusal(answer, 404, "thread_not_found");
    if (model.phase === "held") return expectRefusal(answer, 409, "thread_busy");
    assert.equal(answer.status, 200, answer.text);
    closeAll(real);
    real.generation++;
    model.work = { rounds, width, round: 0, answered: new Map(), log: [] };
    model.phase = breakpoint ? "breakpoint" : choosePhase(model.work);
  });

const hold = command("run(held)", async (model, real) => {
  const input = { rounds: 0, width: 0, hold: true, log: null };
  const answer = await post(real, "/runs", { input, multitask_strategy: "reject", on_paused: "abandon" });
  if (model.phase === "absent") return expectRefusal(answer, 404, "thread_not_found");
  if (model.phase === "held") return expectRefusal(answer, 409, "thread_busy");
  assert.equal(answer.status, 200, answer.text);
  closeAll(real);
  real.generation++;
  real.runId = (answer.body as { readonly run_id: string }).run_id;
  await until("its input is in the state", async () => {
    const state = await call(server, "GET", `/threads/${real.threadId}/state`);
    return state.text.includes('"next":["begin"]'); // a kill before that leaves a thread that never ran
  });
  model.phase = "held";
  model.work = { rounds: 0, width: 0, round: 0, answered: new Map(), log: [] };
});

const goOn = command("continue", async (model, real) => {
  if (model.phase === "dropped") return; // it would work without end
  const answer = await post(real, "/runs/wait", { input: null, multitask_strategy: "reject" });
  if (model.phase === "absent") return expectRefusal(answer, 404, "thread_not_found");
  if (model.phase === "held") return expectRefusal(answer, 409, "thread_busy");
  if (model.phase === "new") return expectRefusal(answer, 409, "nothing_to_continue");
  assert.equal(answer.status, 200, answer.text);
  if (model.phase === "breakpoint") model.phase = choosePhase(model.work as Work);
});

const answerBare = (value: unknown): Command =>
  command(`answer(${JSON.stringify(value)})`, async (model, real) => {
    const answer = await post(real, "/runs/wait", { command: { resume: value } });
    const refused = refusedStatus(model.phase);
    if (refused !== null) return expectRefusal(answer, ...refused);
    if (model.phase === "breakpoint") {
      assert.equal(answer.status, 200, answer.text);
      model.phase = choosePhase(model.work as Work); // it continues without using the value
      return;
    }
    const open = openPlaces(model.work as Work);
    if (open.length > 1) return expectRefusal(answer, 409, "answer_ambiguous");
    assert.equal(answer.status, 200, answer.text);
    closeAnswered(model, real, open);
    use(model, new Map(open.map((place) => [place, value])));
  });

function closeAnswered(model: Model, real: Real, places: readonly number[]): void {
  for (const place of places) real.closed.add(real.ids.get(buildRoundKey(real, model.work?.round ?? 0, place)) ?? "");
}

/** Answers the open questions of the set bits; `also` adds an id that must fail the call. */
const answerByIds = (bits: number, value: unknown, also: "stale" | "unknown" | null): Command =>
  command(`answer by id(${bits.toString(2)}${also === null ? "" : `, ${also}`})`, async (model, real) => {
    const open = model.phase === "questions" && model.work !== null ? openPlaces(model.work) : [];
    const chosen = open.filter((_, at) => (bits & (1 << at)) !== 0);
    const resume: Record<string, unknown> = {};
    for (const place of chosen) resume[real.ids.get(buildRoundKey(real, model.work?.round ?? 0, place)) ?? ""] = value;
    const stale = [...real.closed][0];
    if (also === "stale" && stale !== undefined) resume[stale] = value;
    if (also === "unknown") resume["0123456789abcdef".repeat(2)] = value;
    if (Object.keys(resume).length === 0) return;
    const answer = await post(real, "/runs/wait", { command: { resume } });
    if (model.phase === "absent") return expectRefusal(answer, 404, "thread_not_found");
    if (also === "unknown") return expectRefusal(answer, 422, "interrupt_unknown");
    if (model.phase === "held") return expectRefusal(answer, 409, "thread_busy");
    if (also === "stale" && stale !== undefined) return expectRefusal(answer, 409, "interrupt_stale");
    assert.equal(answer.status, 200, answer.text);
    closeAnswered(model, real, chosen);
    use(model, new Map(chosen.map((place) => [place, value])));
  });

const giveUp = command("give up", async (model, real) => {
  const answer = await call(server, "POST", `/threads/${real.threadId}/state`, { values: null, as_node: "__end__" });
  if (model.phase === "absent") return expectRefusal(answer, 404, "thread_not_found");
  if (model.phase === "held") return expectRefusal(answer, 409, "thread_busy");
  if (model.phase === "new") return expectRefusal(answer, 409, "thread_without_graph");
  assert.equal(answer.status, 200, answer.text);
  closeAll(real);
  if (model.phase === "questions" || model.phase === "breakpoint" || model.phase === "dropped") {
    model.phase = "rest";
    const { work } = model;
    // Writes of finished branches stay.
    const used = [...(work?.answered ?? [])].map(([place, value]) => [work?.round, place, value]);
    if (work !== null) model.work = { ...work, answered: new Map(), log: [...work.log, ...used] };
  }
});

const cancel = command("cancel", async (model, real) => {
  if (real.runId === "") return;
  const path = `/threads/${real.threadId}/runs/${real.runId}/cancel?wait=true`;
  const answer = await call(server, "POST", path);
  if (model.phase === "absent") return expectRefusal(answer, 404, "thread_not_found");
  // 404: of a thread of the same id, deleted since
  assert.ok(answer.status === 204 || answer.status === 404, answer.text);
  if (model.phase === "held") model.phase = "dropped";
});

const remove = command("delete", async (model, real) => {
  const answer = await call(server, "DELETE", `/threads/${real.threadId}`);
  if (model.phase === "absent") return expectRefusal(answer, 404, "thread_not_found");
  assert.equal(answer.status, 204, answer.text);
  model.phase = "absent";
});

const killAndStart = command("kill -9 and start", async () => {
  await server.kill();
  server = await startServer({ config, dataDir });
});

const VALUES = fc.constantFrom<unknown>(true, false, null, 0, "", "yes", {}, [], { a: [1] });
const COMMANDS: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Command> }[] = [
  { weight: 2, arbitrary: fc.constant(create) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.nat(3),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(4).map((n) => n === 0),
      )
      .map((a) => begin(...a)),
  },
  { weight: 1, arbitrary: fc.constant(hold) },
  { weight: 4, arbitrary: fc.constant(goOn) },
  { weight: 8, arbitrary: VALUES.map(answerBare) },
  { weight: 12, arbitrary: fc.tuple(fc.integer({ min: 1, max: 7 }), VALUES).map((a) => answerByIds(...a, null)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(7), VALUES, fc.constantFrom("stale" as const, "unknown" as const))
      .map((a) => answerByIds(...a)),
  },
  { weight: 1, arbitrary: fc.constant(giveUp) },
  { weight: 2, arbitrary: fc.constant(cancel) },
  { weight: 1, arbitrary: fc.constant(remove) },
  { weight: 1, arbitrary: fc.constant(killAndStart) },
];

/** Runs before the random ones, because a few of them may lack the most important cases. */
const ALWAYS: readonly Command[] = [
  begin(2, 2, false),
  killAndStart,
  answerByIds(1, "yes", null),
  killAndStart,
  answerBare(false),
  begin(1, 1, true),
  killAndStart,
  goOn,
  answerBare(null),
];

test(`${SEQUENCES} random sequences of calls match the model (agent-model.1, agent-model.2, agent-model.3)`, async () => {
  const { seed } = seeded();
  console.log(`model: seed ${seed}`);
  const one = fc.oneof(...COMMANDS);
  const sequences = fc.array(one, { minLength: 12, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      const model: Model = { phase: "absent", work: null };
      const real: Real = { threadId: randomUUID(), ids: new Map(), closed: new Set(), generation: 0, runId: "" };
      await fc.asyncModelRun(() => ({ model, real }), [create, ...sequence]);
      // Runs without end would fill the server, and after kills each would execute alone, for longer each time.
      if (model.phase === "held") await cancel.run(model, real);
    }),
    { numRuns: SEQUENCES, seed: seed | 0, verbose: 1, examples: [[[...ALWAYS]]] },
  );
  console.log(`model: ${JSON.stringify(Object.fromEntries(met))}`);
  for (const kind of [
    "answer on questions",
    "answer by id on questions",
    "continue on breakpoint",
    "kill -9 and start on questions",
  ]) {
    assert.ok((met.get(kind) ?? 0) > 0, `the sequences had: ${kind}`);
  }
});

test("ending a partly answered pause ends all of it: tasks triggered by answered branches do not wait", async () => {
  const { thread_id: threadId }: WireThread = (await call(server, "POST", "/threads", {})).body;
  const wait = (body: object) =>
    call(server, "POST", `/threads/${threadId}/runs/wait`, { assistant_id: "rounds", ...body });
  const paused = await wait({ input: { rounds: 1, width: 2, hold: false, log: null } });
  const [first] = (paused.body as { readonly __interrupt__: readonly { readonly id: string }[] }).__interrupt__;
  await wait({ command: { resume: { [first?.id ?? ""]: "used" } } });
  const update = await call(server, "POST", `/threads/${threadId}/state`, { values: null, as_node: "__end__" });
  assert.equal(update.status, 200, update.text);
  const thread: WireThread = (await call(server, "GET", `/threads/${threadId}`)).body;
  assert.deepEqual([thread.status, thread.values?.["log"]], ["idle", [[0, 0, "used"]]]);
  const state: { readonly next: readonly string[] } = (await call(server, "GET", `/threads/${threadId}/state`)).body;
  assert.deepEqual(state.next, []);
});
