// Oracle: runs a program on a server and, with MemorySaver, by the library in process. Both get the same input and the
// same answers in the same order, and must agree on every pause and on the end.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawPlan, randomFrom, type Plan, type Random } from "./plan.ts";
import { call, ROOT } from "../harness/server.ts";
import type { Result, WireInterrupt } from "../harness/threads.ts";

export interface OracleProject {
  readonly config: string;
  /** The parts of programs, with the LangGraph that they resolve. */
  readonly library: LibrarySide;
  readonly plan: (seed: number) => Plan;
}

interface LibrarySide {
  readonly raised: Map<string, Map<string, string>>;
  readonly Command: new (parts: object) => unknown;
  readonly MemorySaver: new () => unknown;
  readonly buildProgram: (plan: Plan, checkpointer: unknown) => LibraryGraph;
}

interface LibraryGraph {
  invoke(input: unknown, config: object): Promise<{ readonly log?: readonly string[] }>;
  getState(config: object, options: { readonly subgraphs: true }): Promise<LibraryState>;
}

interface LibraryState {
  readonly tasks: readonly {
    readonly interrupts: readonly { readonly value?: unknown }[];
    readonly state?: LibraryState | object;
  }[];
}

/** The LangGraph of the programs. */
export interface OracleLibrary {
  readonly oldest: boolean;
  /** Makes a folder from which modules resolve it. */
  readonly newFolder: () => string;
}

/** A folder with a graph `s<seed>` for each seed. It goes with the process. */
export async function oracleProject(
  seeds: readonly number[],
  { oldest, newFolder }: OracleLibrary,
): Promise<OracleProject> {
  const folder = newFolder();
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  for (const file of ["plan.ts", "graphs.ts"]) cpSync(join(ROOT, "test", "oracle", file), join(folder, file));
  const lines = seeds.map((seed) => `export const s${seed} = buildProgram(drawPlan(${seed}, ${!oldest}));`);
  const head = 'import { buildProgram } from "./graphs.ts";\nimport { drawPlan } from "./plan.ts";\n';
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  writeFileSync(join(folder, "all.ts"), `${head}${lines.join("\n")}\n`);
  const graphs = Object.fromEntries(seeds.map((seed) => [`s${seed}`, `./all.ts:s${seed}`]));
  const config = join(folder, "langgraph.json");
  writeFileSync(config, JSON.stringify({ graphs }));
  const library = (await import(join(folder, "graphs.ts"))) as LibrarySide;
  return { config, library, plan: (seed) => drawPlan(seed, !oldest) };
}

interface Pause {
  readonly open: readonly string[];
  /** The library's order of these: groups in order, no order inside a group. */
  readonly groups: Groups;
}

type Groups = readonly (readonly string[])[];

/** One side of a comparison. */
interface Side {
  /** @param answers by question; null at the start @returns the open questions; null when the program has ended */
  next(answers: ReadonlyMap<string, string> | null): Promise<Pause | null>;
  readonly log: () => unknown;
}

let sides = 0;

/** As in LangGraph: the origin and the order of an interrupt identify it. */
function librarySide({ library, plan }: OracleProject, seed: number): Side {
  const graph = library.buildProgram(plan(seed), new library.MemorySaver());
  const threadId = `oracle ${seed} ${sides++}`;
  let open = new Map<string, string>();
  let log: unknown;
  return {
    async next(answers) {
      const idByQuestion = new Map([...open].map(([id, question]) => [question, id]));
      const resume = Object.fromEntries(
        [...(answers ?? [])].map(([question, answer]) => [idByQuestion.get(question), answer]),
      );
      open = new Map();
      library.raised.set(threadId, open);
      const input = answers === null ? {} : new library.Command({ resume });
      const config = { configurable: { thread_id: threadId }, recursionLimit: 200 };
      ({ log } = await graph.invoke(input, config));
      if (open.size === 0) return null;
      const asked = [...open.values()];
      const groups = groupQuestions(await graph.getState(config, { subgraphs: true }));
      // The state also lists answered interrupts of a finished parallel task, and some interrupts twice.
      const left = new Set(asked);
      return { open: asked, groups: groups.map((group) => group.filter((question) => left.delete(question))) };
    },
    log: () => log,
  };
}

/**
 * By task, in the order in which the library makes tasks; questions of one task that calls others have no order of
 * their own.
 */
function groupQuestions({ tasks }: LibraryState): Groups {
  return tasks.flatMap(({ interrupts, state }) => {
    const nested = state !== undefined && "tasks" in state ? groupQuestions(state) : [];
    if (nested.length > 0) return nested;
    return interrupts.length === 0 ? [] : [interrupts.map(({ value }) => String(value))];
  });
}

/** Calls the server; the tests with kills replace it. */
export type Send = (threadId: string, body: object) => Promise<Result>;

export interface ServerOptions {
  readonly server: () => { readonly url: string };
  readonly seed: number;
  readonly send: Send;
  /** Interrupts of a server in this process: ids and questions as its library raises them. */
  readonly raised: LibrarySide["raised"] | null;
}

export async function serverSide({ server, seed, send, raised }: ServerOptions): Promise<Side> {
  const { thread_id: threadId } = (await call(server(), "POST", "/threads", {})).body as { readonly thread_id: string };
  let open: readonly WireInterrupt[] = [];
  let log: unknown;
  const seen = new Set<string>();
  return {
    async next(answers) {
      const idByQuestion = new Map(open.map(({ id, value }) => [String(value), id]));
      const resume = Object.fromEntries(
        [...(answers ?? [])].map(([question, answer]) => [idByQuestion.get(question), answer]),
      );
      for (const id of Object.keys(resume)) {
        assert.equal(seen.has(id), false, `two questions have the id ${id}`);
        seen.add(id);
      }
      const now = new Map<string, string>();
      raised?.set(threadId, now);
      const what = answers === null ? { input: {} } : { command: { resume } };
      const result = await send(threadId, { assistant_id: `s${seed}`, config: { recursion_limit: 200 }, ...what });
      assert.equal(result.__error__, undefined, JSON.stringify(result.__error__));
      log = result["log"];
      open = result.__interrupt__ ?? [];
      assert.equal(result.__interrupt__ === undefined || open.length > 0, true, "a pause without a question");
      if (result.__interrupt__ === undefined) return null;
      if (raised !== null) checkIds(open, now, seen);
      const asked = open.map(({ value }) => String(value));
      return { open: asked, groups: asked.map((question) => [question]) };
    },
    log: () => log,
  };
}

/**
 * Before 1.7 all interrupts of a task share one id in the library: the first keeps it, the next ones get others.
 * @param raised id → question, of this run
 * @param answered the ids that answers have named
 */
function checkIds(
  open: readonly WireInterrupt[],
  raised: ReadonlyMap<string, string>,
  answered: ReadonlySet<string>,
): void {
  const raisedAs = new Map([...raised].map(([id, question]) => [question, id]));
  for (const { id, value } of open) {
    const own = raisedAs.get(String(value)) ?? "";
    if (answered.has(own)) assert.match(id, /^[0-9a-f]{32}$/);
    else assert.equal(id, own, `the id of ${String(value)}`);
  }
}

/** The next answers: the first, the last, some, or all at once. */
function choose(open: readonly string[], random: Random): readonly string[] {
  const how = random.below(4);
  if (how === 0) return open.slice(0, 1);
  if (how === 1) return open.slice(-1);
  if (how === 2) return open;
  const some = open.filter(() => random.below(2) === 0);
  return some.length === 0 ? open.slice(0, 1) : some;
}

const PAUSES_MAX = 200;

/**
 * @throws {AssertionError} with the seed and its plan, where the two differ. @returns the number of answered interrupts
 */
export async function compare(project: OracleProject, seed: number, server: Side): Promise<number> {
  const library = librarySide(project, seed);
  const random = randomFrom(seed + 1_000_003);
  const story: string[] = [];
  let answers: Map<string, string> | null = null;
  let answered = 0;
  try {
    for (let pause = 0; pause < PAUSES_MAX; pause++) {
      const expected: Pause | null = await library.next(answers);
      const actual: Pause | null = await server.next(answers);
      story.push(`open: ${JSON.stringify(expected?.open)}`);
      assert.deepEqual(actual?.open.toSorted(), expected?.open.toSorted(), "the questions");
      if (expected === null || actual === null) break;
      assert.deepEqual(inGroups(actual.open, expected.groups), sorted(expected.groups), "the order of the questions");
      const chosen = choose(actual.open.toSorted(), random);
      answers = new Map(chosen.map((question) => [question, `to ${question}`]));
      story.push(`answered: ${JSON.stringify(chosen)}`);
      answered += chosen.length;
    }
    const log = library.log() as readonly string[];
    for (const line of log) checkLine(line);
    assert.deepEqual(server.log(), log, "the result");
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`seed ${seed}: ${message}\n${story.join("\n")}\n${JSON.stringify(project.plan(seed))}`, {
      cause: error,
    });
  }
  return answered;
}

/** The members of the list that the groups contain, grouped alike. */
function inGroups(list: readonly string[], groups: Groups): Groups {
  const known = new Set(groups.flat());
  const left = list.filter((question) => known.has(question));
  return sorted(groups.map((group) => left.splice(0, group.length)));
}

const sorted = (groups: Groups): Groups => groups.map((group) => group.toSorted());

/** Each answer names its question. */
function checkLine(line: string): void {
  for (const [, question, answer] of line.matchAll(/([\w/.]+)=to ([\w/.]+)/g)) assert.equal(answer, question);
}
