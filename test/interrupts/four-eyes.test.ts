// Tests of four eyes: every way to make the state of a thread excludes its author from the answer.
//   four-eyes-ways.1. An edit below an open question excludes its author at once, with the author's vote.
//   four-eyes-ways.2. The state at the creation of a thread, of a copy and of a fork has an author, too.
//   four-eyes-ways.3. The runs of a cron have its creator and everybody who changed it as authors.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { readProblem, followLog } from "../harness/threads.ts";
import { post, read, resume, REVIEW_GRAPHS, readTrail, vote, type Question } from "../harness/reviews/questions.ts";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";

const server = await startServerHere({ config: REVIEW_GRAPHS });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const FOUR_EYES = { question: "Pay?", review_rules: { four_eyes: true } };

async function newThread(who: string, more: object = {}): Promise<string> {
  const { body, text } = await post(server, who, "/threads", more);
  assert.ok(body["thread_id"] !== undefined, text);
  return String(body["thread_id"]);
}

/** Runs until the question of the thread. */
async function runTo(who: string, threadId: string, run: object): Promise<Question> {
  const asked = await post(server, who, `/threads/${threadId}/runs/wait`, { assistant_id: "echo", ...run });
  const [interrupt] = (asked.body["__interrupt__"] ?? []) as readonly { readonly id: string }[];
  assert.ok(interrupt !== undefined, asked.text);
  return { thread_id: threadId, interrupt_id: interrupt.id, path: `/inbox/${threadId}/${interrupt.id}` };
}

async function readExcluded({ path }: Question): Promise<readonly string[]> {
  const { body } = await read(server, path);
  return (body["review"] as { readonly excluded: readonly string[] }).excluded;
}

const readCode = ({ problem }: { readonly problem?: { readonly code: string } }) => problem?.code;

suite("an edit below an open question (four-eyes-ways.1)", () => {
  test("excludes its author, and takes back all votes", async () => {
    const threadId = await newThread("starter");
    const asked = await runTo("starter", threadId, { assistant_id: "nested", input: {} });
    assert.equal((await vote(server, "ann", asked, true)).status, "pending");
    const { body: state } = await read(server, `/threads/${threadId}/state?subgraphs=true`);
    const [task] = state["tasks"] as readonly { readonly state: { readonly checkpoint: object } }[];
    const edit = { values: { mailed: "by bob" }, checkpoint: task?.state.checkpoint };
    const edited = await post(server, "bob", `/threads/${threadId}/state`, edit);
    assert.equal(edited.status, 200, edited.text);
    assert.deepEqual(await readExcluded(asked), ["starter", "bob"]);
    assert.equal(readCode(await vote(server, "bob", asked, true)), "reviewer_excluded");
    assert.equal(readProblem(await resume(server, "bob", asked, true)).code, "reviewer_excluded");
    assert.equal((await vote(server, "ann", asked, true)).status, "pending", "the vote from before does not count");
    assert.equal((await vote(server, "carl", asked, true)).status, "answered");
    assert.deepEqual(await readTrail(server, asked), [
      ["voted", "ann"],
      ["votes_cleared", "bob"],
      ["voted", "ann"],
      ["answered", "carl"],
    ]);
  });

  test("along with the answer to its sibling is refused, and changes nothing", async () => {
    const threadId = await newThread("starter");
    await post(server, "starter", `/threads/${threadId}/runs/wait`, { assistant_id: "pair", input: {} });
    const { body: inbox } = await read(server, `/inbox?thread_id=${threadId}`);
    const items = inbox["items"] as readonly { readonly id: string; readonly value: { readonly ask: string } }[];
    const findQuestionId = (name: string): string => items.find(({ value }) => value.ask === name)?.id ?? "";
    const id = findQuestionId("pay");
    const asked = { thread_id: threadId, interrupt_id: id, path: `/inbox/${threadId}/${id}` };
    await vote(server, "bob", asked, true);
    const command = { resume: { [findQuestionId("mail")]: true }, update: { paid: "by bob" } };
    const edited = await post(server, "bob", `/threads/${threadId}/runs/wait`, { assistant_id: "pair", command });
    assert.equal(readProblem(edited).code, "invalid_request");
    assert.deepEqual(await readExcluded(asked), ["starter"]);
    assert.deepEqual(await readTrail(server, asked), [["voted", "bob"]]);
  });

  test("of a root state excludes its author from the next question", async () => {
    const threadId = await newThread("starter");
    await runTo("starter", threadId, { input: { payload: FOUR_EYES } });
    const edit = { values: { payload: FOUR_EYES }, as_node: "__start__" };
    assert.equal((await post(server, "bob", `/threads/${threadId}/state`, edit)).status, 200);
    assert.deepEqual(await readExcluded(await runTo("ann", threadId, { input: null })), ["starter", "bob"]);
  });
});

suite("a state of other origin (four-eyes-ways.2)", () => {
  const supersteps = [{ updates: [{ values: { payload: FOUR_EYES }, as_node: "__start__" }] }];

  test("from the creation of the thread excludes the creator", async () => {
    const threadId = await newThread("ann", { metadata: { graph_id: "echo" }, supersteps });
    const asked = await runTo("bob", threadId, { input: null });
    assert.deepEqual(await readExcluded(asked), ["ann"]);
    assert.equal(readCode(await vote(server, "ann", asked, true)), "reviewer_excluded");
    assert.equal(readCode(await vote(server, "bob", asked, true)), undefined);
  });

  test("from a copied thread excludes the authors of the original; the votes stay there", async () => {
    const threadId = await newThread("ann");
    const payload = { ...FOUR_EYES, review_rules: { four_eyes: true, approvals: 2, assignees: ["ann", "bob"] } };
    await vote(server, "bob", await runTo("ann", threadId, { input: { payload } }), true);
    const { body: copy } = await post(server, "bob", `/threads/${threadId}/copy`, {});
    const { body: inbox } = await read(server, `/inbox?thread_id=${String(copy["thread_id"])}`);
    const [item] = inbox["items"] as readonly { readonly review: Record<string, unknown> }[];
    const { assignees, excluded, approvals } = item?.review ?? {};
    assert.deepEqual([assignees, excluded, approvals], [[["ann", "bob"]], ["ann"], { given: 0, needed: 2 }]);
  });

  test("from an older checkpoint excludes whoever chose it", async () => {
    const threadId = await newThread("ann");
    await runTo("ann", threadId, { input: { payload: FOUR_EYES } });
    const { body: old } = await read(server, `/threads/${threadId}/state`);
    const { checkpoint_id } = old["checkpoint"] as { readonly checkpoint_id: string };
    await runTo("bob", threadId, { input: { payload: FOUR_EYES } });
    const asked = await runTo("carl", threadId, { input: null, checkpoint_id });
    assert.deepEqual(await readExcluded(asked), ["ann", "bob", "carl"]);
    assert.equal(readCode(await vote(server, "ann", asked, true)), "reviewer_excluded");
  });
});

const BOB = { authorization: "Bearer bob" };

test("the question of a cron's run excludes its creator and whoever changed it (four-eyes-ways.3)", async () => {
  const threadId = await newThread("ann");
  const cron = { assistant_id: "echo", schedule: "0 0 1 1 *", input: { payload: "nothing" } };
  const made = await post(server, "ann", `/threads/${threadId}/runs/crons`, cron);
  assert.equal(made.status, 200, made.text);
  const path = `/runs/crons/${String(made.body["cron_id"])}`;
  const change = { schedule: "* * * * * *", input: { payload: FOUR_EYES } };
  const changed = await call(server, "PATCH", path, change, BOB);
  assert.equal(changed.status, 200, changed.text);
  const item = await followLog(server, "the question", async () => {
    const { body } = await read(server, `/inbox?thread_id=${threadId}`);
    return (body["items"] as readonly { readonly id: string }[])[0];
  });
  await call(server, "DELETE", path, undefined, BOB);
  const asked = { thread_id: threadId, interrupt_id: item.id, path: `/inbox/${threadId}/${item.id}` };
  assert.deepEqual((await readExcluded(asked)).toSorted(), ["ann", "bob"]);
  assert.equal(readCode(await vote(server, "bob", asked, true)), "reviewer_excluded");
  assert.equal((await vote(server, "carl", asked, true)).status, "answered");
});
