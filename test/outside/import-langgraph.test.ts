// Moving in: `holdpoint import --from-langgraph-postgres` of a database that the library's own PostgresSaver made.
// Every thread arrives with its history, every question under its id and open to an answer, and the store's items; a
// second import changes nothing.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { holdpoint } from "../harness/cli.ts";
import { IS_LONG } from "../harness/long.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { call, removeFolder, startServer, temporaryFolder } from "../harness/server.ts";
import { until } from "../harness/threads.ts";
import { nestedProject } from "./nested-project.ts";

const PROJECT = nestedProject("test/outside/postgres-saver");
const dataDir = temporaryFolder();
after(() => removeFolder(dataDir));

interface Seeded {
  readonly way: string;
  readonly id: string;
  readonly history: readonly string[];
  readonly open: readonly { readonly interrupt: string; readonly value: unknown }[];
}
interface Item {
  readonly id: string;
  readonly thread_id: string;
  readonly value: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Way → the answers that the thread has in the end. */
const ENDS: Readonly<Record<string, readonly unknown[]>> = {
  once: ["now"],
  twice: ["to the first", "now"],
  beside: ["to the left", "now"],
  below: ["now"],
  plain: ["none"],
};

test("a team moves with its questions open, and each can be answered (import-langgraph.1, import-langgraph.3)", async (t) => {
  const uri = await newDatabase();
  const { stdout } = await promisify(execFile)(process.execPath, [join(PROJECT, "seed.mjs"), uri]);
  const seeded = JSON.parse(stdout) as readonly Seeded[];
  const words = ["import", "--from-langgraph-postgres", uri, "--data-dir", dataDir, "--json"];
  const first = await holdpoint(words, { cwd: PROJECT });
  assert.equal(first.code, 0, first.err);
  assert.deepEqual(JSON.parse(first.out), { threads: 5, questions: 4, known_threads: 0, store_items: 2 });
  const again = await holdpoint(words, { cwd: PROJECT });
  assert.deepEqual(JSON.parse(again.out), { threads: 0, questions: 0, known_threads: 5, store_items: 0 });

  const server = await startServer({ config: join(PROJECT, "langgraph.json"), dataDir });
  t.after(() => server.kill());
  const listItems = async (): Promise<readonly Item[]> =>
    ((await call(server, "GET", "/inbox")).body as { readonly items: readonly Item[] }).items;
  const items = await until("the questions are open", async () => {
    const list = await listItems();
    return list.length === 4 ? list : undefined;
  });
  const { body: acts } = await call(server, "GET", "/audit?action=data_imported");
  assert.deepEqual(
    (acts as { readonly items: readonly { title: string; value: { threads: number } }[] }).items.map(
      ({ title, value: { threads } }) => [title, threads],
    ),
    [
      ["LangGraph's tables", 0],
      ["LangGraph's tables", 5],
    ],
  );
  for (const { way, id, history, open } of seeded) {
    const named = ({ thread_id: thread, metadata }: Item): boolean =>
      thread === id || metadata["langgraph_thread_id"] === id;
    const mine = items.filter(named);
    assert.deepEqual(
      mine.map(({ id: interrupt, value }) => ({ interrupt, value })),
      open,
      way,
    );
    for (const { thread_id: thread, id: interrupt } of mine) {
      const { body } = await call(server, "POST", `/threads/${thread}/history`, { limit: 100 });
      const kept = (body as readonly { readonly checkpoint: { readonly checkpoint_id: string } }[]).map(
        ({ checkpoint }) => checkpoint.checkpoint_id,
      );
      assert.deepEqual(kept, history, way);
      const resume = { assistant_id: "desk", command: { resume: { [interrupt]: "now" } } };
      const ended = await call(server, "POST", `/threads/${thread}/runs/wait`, resume);
      const { answers, messages } = ended.body as Readonly<Record<string, readonly { readonly content?: string }[]>>;
      assert.deepEqual(answers?.toSorted(), ENDS[way]?.toSorted(), way);
      assert.equal(messages?.[0]?.content, "noted", way);
    }
  }
  const plain = seeded.find(({ way }) => way === "plain")?.id ?? "";
  const state = (await call(server, "GET", `/threads/${plain}/state`)).body as {
    readonly values: { answers: unknown };
  };
  assert.deepEqual(state.values.answers, ENDS["plain"]);
  const found = await call(server, "POST", "/store/items/search", { namespace_prefix: ["users"] });
  assert.match(found.text, /"blue"/);
  assert.match(found.text, /\{"n":2\}/);
  assert.equal(await server.stop(), 0);
});

test("what it cannot read is named, and nothing is imported (import-langgraph.1)", async () => {
  const empty = await newDatabase();
  const cases: readonly (readonly [words: readonly string[], says: RegExp, code: number])[] = [
    [["--from-langgraph-postgres", empty], /has no table of a PostgresSaver in the schema public/, 1],
    [["--from-langgraph-postgres", empty, "--graph", "dsk"], /there is no graph "dsk".*desk/, 1],
    [["--from-langgraph-postgres", "postgres://127.0.0.1:9/none"], /ECONNREFUSED/, 1],
    [[], /name either a file, or a database/, 2],
    [["some.dump", "--from-langgraph-postgres", empty], /name either a file, or a database/, 2],
  ];
  for (const [words, says, code] of IS_LONG ? cases : cases.slice(0, 2)) {
    const ended = await holdpoint(["import", ...words, "--data-dir", dataDir], { cwd: PROJECT });
    assert.match(ended.err, says);
    assert.equal(ended.code, code, ended.err);
  }
});
