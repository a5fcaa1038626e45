// The table "case × channel" of the contract for answers (ARCHITECTURE.md, "Answers").
//   answers-channels.1. A good answer is taken over every channel, and reaches the graph as it was sent.
//   answers-channels.2. A vote counts over every channel, and the deciding one answers.
import assert from "node:assert/strict";
import { after } from "node:test";
import { CHANNELS, outcomeOf } from "../harness/channels/channels.ts";
import { inTable } from "../harness/channels/table.ts";
import { askOn, startWorld } from "../harness/channels/world.ts";

const world = await startWorld();
after(() => world.close());

const REFUND = { name: "refund", args: { order: "A-1", amount: 5 } };
const review = (...allowed: readonly string[]) => ({ action_name: "refund", allowed_decisions: allowed });
const HITL = { action_requests: [REFUND], review_configs: [review("approve", "edit", "reject", "respond")] };
const CAMEL = {
  actionRequests: [REFUND],
  reviewConfigs: [{ actionName: "refund", allowedDecisions: ["approve", "edit", "reject"] }],
};
const HUMAN = [
  {
    action_request: { action: "refund", args: REFUND.args },
    config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true },
  },
];

const GOOD = [
  { name: "approve", payload: HITL, value: { decisions: [{ type: "approve" }] } },
  { name: "reject with a reason", payload: HITL, value: { decisions: [{ type: "reject", message: "no" }] } },
  { name: "respond", payload: HITL, value: { decisions: [{ type: "respond", message: "later" }] } },
  {
    name: "edit",
    payload: HITL,
    value: { decisions: [{ type: "edit", edited_action: { name: "refund", args: { order: "A-1", amount: 4 } } }] },
  },
  { name: "approve, in JavaScript's case", payload: CAMEL, value: { decisions: [{ type: "approve" }] } },
  { name: "response", payload: HUMAN, value: [{ type: "response", args: "later" }] },
  { name: "ignore", payload: HUMAN, value: [{ type: "ignore", args: null }] },
  { name: "a text", payload: "How many?", value: "three" },
];

inTable("a good answer is taken (answers-channels.1)", GOOD, async (channel, { payload, value }) => {
  const asked = await askOn(world, payload);
  const { result, item, text } = await outcomeOf(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.equal(result, "answered", text);
  assert.deepEqual(item.answered?.value, value);
});

const REVIEWED = { ...HITL, review_rules: { approvals: 2 } };
const APPROVE = { decisions: [{ type: "approve" }] };
const VOTES = CHANNELS.map(({ name }) => ({ name: `after a vote over ${name}`, first: name, value: APPROVE }));

inTable("votes add up across channels (answers-channels.2)", VOTES, async (channel, { first, value }) => {
  const asked = await askOn(world, REVIEWED);
  const before = CHANNELS.find(({ name }) => name === first) ?? channel;
  const vote = await outcomeOf(world, asked, () => before.send(world, asked, { who: "ann", value }));
  assert.equal(vote.result, "counted", vote.text);
  const again = await outcomeOf(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.equal(again.result, "refused", again.text);
  const decided = await outcomeOf(world, asked, () => channel.send(world, asked, { who: "bob", value }));
  assert.equal(decided.result, "answered", decided.text);
});
