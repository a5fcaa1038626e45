// Tests of GET /audit, over HTTP: the decisions of all threads, with the run that followed, and their exports.
// Checked:
//   interrupts/audit-search.1. A decision has the request, the person, the channel and the end of its run.
//   interrupts/audit-search.2. Pages follow each other without gaps; an export has the same entries in the same order,
//        and no cell of a CSV is a formula.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readItems } from "../harness/inbox.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { newThread, readProblem } from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

interface Numbered {
  readonly thread_id: string;
  readonly seq: number;
}

const namePlace = ({ thread_id: thread, seq }: Numbered): string => `${thread}/${seq}`;

interface Found {
  readonly items: readonly (Readonly<Record<string, unknown>> & Numbered)[];
  readonly next_cursor: string | null;
}

const search = async (query: string): Promise<Found> => (await call(server, "GET", `/audit?${query}`)).body;

async function decided(payload: string, value: unknown, by: string): Promise<string> {
  const thread = await newThread(server, "echo", { metadata: { order: payload } });
  await thread.run({ input: { payload } });
  const [item] = await readItems(server, thread.threadId);
  assert.ok(item !== undefined);
  const body = { by, answers: [{ thread_id: item.thread_id, interrupt_id: item.id, resume: value }] };
  const { results } = (await call(server, "POST", "/inbox/answers", body)).body as {
    readonly results: readonly { readonly run_id: string }[];
  };
  await call(server, "GET", `/threads/${thread.threadId}/runs/${results[0]?.run_id}/join`);
  return thread.threadId;
}

test("a decision is found by its words, with its request and the end of its run (interrupts/audit-search.1)", async () => {
  const threadId = await decided("Refund order 4711?", "yes, in full", "ann");
  await decided("Delete the file?", "no", "bob");
  for (const query of ["q=REFUND%204711", "by=ann", "q=in%20full%20ann", `thread_id=${threadId}`]) {
    const { items, next_cursor: next } = await search(query);
    assert.equal(items.length, 1, query);
    assert.equal(next, null);
    const { title, action, by, via, value, run_status: end, graph_id: graph, kind } = items[0] ?? assert.fail();
    assert.deepEqual(
      { title, action, by, via, value, end, graph, kind },
      {
        title: "Refund order 4711?",
        action: "answered",
        by: "ann",
        via: "inbox",
        value: "yes, in full",
        end: "success",
        graph: "echo",
        kind: "question",
      },
    );
  }
  assert.equal((await search("q=refund%20bob")).items.length, 0);
  assert.equal((await search("action=expired,claimed")).items.length, 0);
  assert.equal((await search("since=2999-01-01T00:00:00Z")).items.length, 0);
});

test("pages and exports have every decision once, newest first (interrupts/audit-search.2)", async () => {
  for (const value of ["=cmd()", "+1", "plain", 'quote " comma,']) await decided("Well?", value, "=ann");
  const all = (await search("limit=200")).items.map(namePlace);
  const paged: string[] = [];
  let cursor = "";
  do {
    const page = await search(`limit=2${cursor}`);
    paged.push(...page.items.map(namePlace));
    cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor !== "");
  assert.deepEqual(paged, all);

  const lines = (await call(server, "GET", "/audit?format=ndjson")).text.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => namePlace(JSON.parse(line) as Numbered)),
    all,
  );
  const table = await call(server, "GET", "/audit?format=csv&by=%3Dann");
  assert.match(String(table.headers.get("content-type")), /^text\/csv/);
  const [head = "", ...rows] = table.text.trim().split("\r\n");
  assert.match(head, /^at,action,by,via,title,/);
  assert.equal(rows.length, 4);
  for (const row of rows) assert.match(row, /,answered,'=ann,inbox,Well\?,/);
});

test("an invalid cursor or time is refused (interrupts/audit-search.2)", async () => {
  for (const query of ["cursor=x", "since=yesterday", "limit=1000", "action=DROP"]) {
    const { status, ...rest } = await call(server, "GET", `/audit?${query}`);
    assert.equal(status, 422, query);
    assert.equal(readProblem({ status, ...rest }).code, "invalid_request");
  }
});
