// The tests of the place of an answer (graphs/langgraph/question-places.ts), for one copy of the test graphs.
// Rules:
//   interrupts/places.1. Each place gets the answer that named what it showed, or none: in any order of questions and
//        answers, one at a time or together, and across a restart.
//   interrupts/places.2. All questions of the tool calls of one step are shown together.
//   interrupts/places.3. Another question at a place stops the run: nothing is delivered, and the question is open again.
// Each form of test/graphs/places records `<place> <- <answer>`. HOLDPOINT_FAULTS=full: 40 threads a form.
import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { removeFolder, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";
import { newThread, openThread, type Result, type TestThread, type WireInterrupt } from "../harness/threads.ts";

const THREADS = process.env["HOLDPOINT_FAULTS"] === "full" ? 40 : 3;
const ROUNDS_MAX = 100;

interface Form {
  readonly graph: string;
  /** Lines at the end. */
  readonly lines: number;
  /** Questions that the first pause shows; the number may vary if it is absent. */
  readonly together?: number;
  /** The question changes, so that runs may end with `interrupt_moved`. */
  readonly moves?: true;
}

const FORMS: readonly Form[] = [
  { graph: "twoTools", lines: 2, together: 2 },
  { graph: "fourTools", lines: 4, together: 4 },
  { graph: "sameTool", lines: 3, together: 3 },
  { graph: "sameCall", lines: 2, together: 2 },
  { graph: "toolsTwice", lines: 6, together: 3 },
  { graph: "subgraphTools", lines: 3, together: 3 },
  { graph: "agent", lines: 3, together: 3 },
  { graph: "tasks", lines: 3, together: 3 },
  { graph: "sends", lines: 8, together: 4 },
  { graph: "helpers", lines: 3, moves: true },
  { graph: "timedHelpers", lines: 3, moves: true },
  { graph: "retried", lines: 2, moves: true },
  { graph: "subgraphs", lines: 3 },
  { graph: "loop", lines: 8 },
  { graph: "times", lines: 2 },
  { graph: "changing", lines: 1, moves: true },
];

const ORDERS: readonly ((open: readonly WireInterrupt[]) => readonly WireInterrupt[])[] = [
  (open) => open.slice(0, 1),
  (open) => open.slice(-1),
  (open) => open,
];

type StorageName = "sqlite" | "postgres";

/** @param root folder of test/graphs, in a project with its LangGraph */
export function placeTests(name: string, root: string, storages: readonly StorageName[]): void {
  for (const storage of storages) placeSuite(`${name} LangGraph, ${storage}`, root, storage);
}

function placeSuite(title: string, root: string, storage: StorageName): void {
  suite(`the place of an answer, ${title}`, PATIENCE, async () => {
    const config = join(root, "test", "graphs", "places", "langgraph.json");
    const databaseUri = storage === "postgres" ? await newDatabase() : "";
    const options = { config, dataDir: temporaryFolder(), env: { DATABASE_URI: databaseUri } };
    const begun = new Map<string, readonly Begun[]>();
    let server: TestServer;

    test("threads begin, and get an answer each", async () => {
      server = await startServer(options);
      for (const form of FORMS)
        begun.set(form.graph, await Promise.all(range(THREADS).map((n) => begin(server, form, n))));
    });

    test("the server restarts", async () => {
      await server.kill();
      server = await startServer(options);
    });

    for (const form of FORMS) {
      test(`${form.graph}: each place gets its answer (interrupts/places.1)`, async () => {
        const threads = begun.get(form.graph) ?? [];
        assert.equal(threads.length, THREADS);
        await Promise.all(threads.map((one) => finish(openThread(server, form.graph, one.threadId), form, one)));
      });
    }

    test("a question that is not there any more stops the run (interrupts/places.3)", async () => {
      const thread = await newThread(server, "conditional");
      const first = await thread.run({ input: { notes: thread.threadId } });
      const [question] = first.__interrupt__ ?? [];
      const moved = await thread.resume({ [question?.id ?? ""]: "to delete_file" });
      assert.equal(moved.__error__?.error, "interrupt_moved");
      assert.deepEqual(await thread.open(), [question]);
      assert.equal((await thread.get()).status, "interrupted");
      const again = await thread.run({ input: null });
      const [shown] = again.__interrupt__ ?? [];
      assert.deepEqual(shown?.value, { place: "drop_table" });
      const end = await thread.resume({ [shown?.id ?? ""]: "to drop_table" });
      assert.deepEqual(end["log"], ["drop_table <- to drop_table"]);
    });

    test("the server stops", async () => {
      await server.stop();
      removeFolder(options.dataDir);
    });
  });
}

interface Begun {
  readonly threadId: string;
  readonly n: number;
  readonly open: readonly WireInterrupt[];
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}

/** To the second pause. */
async function begin(server: TestServer, { graph, together }: Form, n: number): Promise<Begun> {
  const thread = await newThread(server, graph);
  const notes = join(temporaryFolder(), "notes");
  const first = await thread.run({ input: { messages: [], notes } });
  const open = first.__interrupt__ ?? [];
  if (together !== undefined) assert.equal(open.length, together, `${graph} shows all its questions`); // interrupts/places.2
  return { threadId: thread.threadId, n, open: nextOpen(await answer(thread, open, n), await thread.open()) };
}

/** Answers the questions that the thread's order chooses, each with what it shows. */
function answer(thread: TestThread, open: readonly WireInterrupt[], n: number): Promise<Result> {
  const chosen = ORDERS[n % ORDERS.length]?.(open) ?? open;
  return thread.resume(Object.fromEntries(chosen.map(({ id, value }) => [id, `to ${placeIn(value)}`])));
}

function placeIn(value: unknown): string {
  return (value as { readonly place: string }).place;
}

function nextOpen(result: Result, stored: readonly WireInterrupt[]): readonly WireInterrupt[] {
  if (result.__error__ === undefined) return result.__interrupt__ ?? [];
  assert.equal(result.__error__.error, "interrupt_moved", JSON.stringify(result.__error__));
  assert.ok(stored.length > 0, "a moved question is open again");
  return stored;
}

async function finish(thread: TestThread, form: Form, { n, open: first }: Begun): Promise<void> {
  let open = first;
  for (let round = 0; open.length > 0; round++) {
    assert.ok(round < ROUNDS_MAX, `${form.graph} comes to an end`);
    const result = await answer(thread, open, n);
    assert.ok(result.__error__ === undefined || form.moves === true, JSON.stringify(result.__error__));
    open = nextOpen(result, await thread.open());
  }
  const { values } = await thread.state();
  const lines = linesIn(values);
  assert.equal(lines.length, form.lines, JSON.stringify(lines));
  for (const line of lines) assert.equal(line, `${line.split(" <- ")[0]} <- to ${line.split(" <- ")[0]}`);
}

function linesIn({ log, messages = [] }: Readonly<Record<string, unknown>>): readonly string[] {
  const tools = (messages as { readonly type: string; readonly content: string }[]).filter(
    ({ type }) => type === "tool",
  );
  return (log as readonly string[] | undefined) ?? tools.flatMap(({ content }) => content.split("\n"));
}
