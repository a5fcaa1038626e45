// Over every channel: an answer runs with the context and tags of the run that asked, and an answer that fails is asked
// again.
//   unused-answers-channels.1. A required member of the context need not come with the answer; nor do tags and limits.
//   unused-answers-channels.3. So it does whatever became of that run since: its record stays while its question is open.
//   unused-answers-channels.2. An answer at which the node throws leaves its question open, with the error at the item.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { join } from "node:path";
import { inTable } from "../harness/channels/table.ts";
import { askOn, asWho, post, readItem, read, startWorld, type Asked } from "../harness/channels/world.ts";
import { PATIENCE } from "../harness/patience.ts";
import { call, ROOT } from "../harness/server.ts";
import { followLog } from "../harness/threads.ts";

const world = await startWorld(join(ROOT, "test", "graphs", "paused", "langgraph-channels.json"));
after(() => world.close());

const HITL = {
  action_requests: [{ name: "refund", args: { order: "A-1" } }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "reject"] }],
};
const APPROVE = [{ name: "an approval", value: { decisions: [{ type: "approve" }] } }];
const REJECT = [{ name: "a rejection", value: { decisions: [{ type: "reject", message: "no" }] } }];

// Each row in short form runs on three channels; so the same row stands for all of them, several times.
const rows = <R extends object>([row]: readonly R[]): readonly (R & { readonly name: string })[] =>
  Array.from({ length: 6 }, (_, at) => ({
    ...(row as R),
    name: `${String((row as { name?: string }).name)} ${at + 1}`,
  }));

const ask = (): Promise<Asked> =>
  askOn(world, HITL, { assistant: "carrying", context: { user: "ann" }, config: { tags: ["x"] } });

inTable("an answer runs as its question was asked (unused-answers-channels.1)", rows(APPROVE), async (channel, row) => {
  const asked = await ask();
  await channel.send(world, asked, { who: "bob", value: row.value });
  const log = await followLog(world.server, "the thread is idle", async () => {
    const { body } = await read(world, `/threads/${asked.threadId}`);
    if (body["status"] !== "idle") return undefined;
    return (body["values"] as { readonly log: readonly string[] }).log;
  });
  assert.deepEqual(log, ["as ann, tags x"]);
});

const OTHER = { assistant_id: "carrying", context: { user: "eve" }, config: { tags: ["y"] } };
const queue = ({ threadId }: Asked) =>
  post(world, "bob", `/threads/${threadId}/runs`, { ...OTHER, input: { payload: "?" }, on_paused: "enqueue" });
const del = (path: string) => call(world, "DELETE", path, undefined, asWho("root"));

/** What becomes of the run that asked, or beside it. @returns the question to answer */
const FATES: Readonly<Record<string, (asked: Asked) => Promise<Asked>>> = {
  async "the deletion of its record"(asked) {
    await queue(asked);
    const refused = await del(`/threads/${asked.threadId}/runs/${asked.runId}`);
    assert.deepEqual([refused.status, (refused.body as { readonly code: string }).code], [409, "run_active"]);
    return asked;
  },
  async "the deletion of its assistant"(asked) {
    await queue(asked);
    const deleted = await del(`/assistants/${asked.assistant}`);
    assert.equal(deleted.status, 200, deleted.text);
    const again = { assistant_id: asked.assistant, graph_id: "carrying", context: OTHER.context, config: OTHER.config };
    assert.equal((await post(world, "root", "/assistants", again)).status, 200);
    return asked;
  },
  async "a copy of its thread"(asked) {
    const { body } = await post(world, "root", `/threads/${asked.threadId}/copy`, {});
    return { ...asked, threadId: String(body["thread_id"]) };
  },
  async "an edit of its state"(asked) {
    const path = `/threads/${asked.threadId}`;
    assert.equal((await post(world, "root", `${path}/state`, { values: {} })).status, 200);
    await queue(asked);
    const again = { assistant_id: asked.assistant, input: null };
    const { body } = await post(world, "root", `${path}/runs/wait`, again);
    const [{ id }] = body["__interrupt__"] as readonly [{ readonly id: string }];
    return { ...asked, interruptId: id };
  },
};

for (const [name, fate] of Object.entries(FATES))
  test(`an answer runs as its question was asked, after ${name} (unused-answers-channels.3)`, PATIENCE, async () => {
    const { body } = await post(world, "root", "/assistants", { graph_id: "carrying" });
    const given = { context: { user: "ann" }, config: { tags: ["x"] } };
    const asked = await fate(await askOn(world, HITL, { assistant: String(body["assistant_id"]), ...given }));
    const { threadId, interruptId, assistant } = asked;
    const answer = { assistant_id: assistant, command: { resume: { [interruptId]: APPROVE[0]?.value } } };
    const { body: run } = await post(world, "bob", `/threads/${threadId}/runs`, answer);
    const joined = await read(world, `/threads/${threadId}/runs/${String(run["run_id"])}/join`);
    assert.deepEqual(joined.body["log"], ["as ann, tags x"], joined.text);
  });

inTable("an answer that fails is asked again (unused-answers-channels.2)", rows(REJECT), async (channel, row) => {
  const asked = await ask();
  await channel.send(world, asked, { who: "bob", value: row.value });
  const failed = await followLog(world.server, "the question is open again", async () => {
    const item = await readItem(world, asked);
    const { failed_answer: failure } = item as { readonly failed_answer?: { readonly message: string } };
    return item.state === "open" ? failure : undefined;
  });
  assert.equal(failed.message, "no rejection here");
  const { body } = await read(world, `/threads/${asked.threadId}/state`);
  assert.deepEqual(body["next"], ["pay"]);
  assert.equal((await read(world, `/threads/${asked.threadId}`)).body["status"], "interrupted");
});
