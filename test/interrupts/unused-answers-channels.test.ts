// Over every channel: an answer runs with the context and tags of the run that asked, and an answer that fails is asked
// again.
//   unused-answers-channels.1. A required member of the context need not come with the answer; nor do tags and limits.
//   unused-answers-channels.2. An answer at which the node throws leaves its question open, with the error at the item.
import assert from "node:assert/strict";
import { after } from "node:test";
import { join } from "node:path";
import { inTable } from "../harness/channels/table.ts";
import { askOn, readItem, read, startWorld, type Asked } from "../harness/channels/world.ts";
import { ROOT } from "../harness/server.ts";
import { until } from "../harness/threads.ts";

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
  const log = await until("the thread is idle", async () => {
    const { body } = await read(world, `/threads/${asked.threadId}`);
    if (body["status"] !== "idle") return undefined;
    return (body["values"] as { readonly log: readonly string[] }).log;
  });
  assert.deepEqual(log, ["as ann, tags x"]);
});

inTable("an answer that fails is asked again (unused-answers-channels.2)", rows(REJECT), async (channel, row) => {
  const asked = await ask();
  await channel.send(world, asked, { who: "bob", value: row.value });
  const failed = await until("the question is open again", async () => {
    const item = await readItem(world, asked);
    const { failed_answer: failure } = item as { readonly failed_answer?: { readonly message: string } };
    return item.state === "open" ? failure : undefined;
  });
  assert.equal(failed.message, "no rejection here");
  const { body } = await read(world, `/threads/${asked.threadId}/state`);
  assert.deepEqual(body["next"], ["pay"]);
  assert.equal((await read(world, `/threads/${asked.threadId}`)).body["status"], "interrupted");
});
