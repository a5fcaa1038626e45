// The table "case × channel" of the contract for answers (ARCHITECTURE.md, "Answers").
//   answers-channels.1. A good answer is taken over every channel, and reaches the graph as it was sent.
//   answers-channels.3. An answer that breaks the rules of its question is refused, and the question stays open.
//   answers-channels.5. An answer to a question with review rules carries nothing but the answer.
//   answers-channels.6. Votes are for the run that asked: whatever changes its ground takes them away.
//   answers-channels.4. One person decides no quorum, whatever form the vote has.
//   answers-channels.2. A vote counts over every channel, and the deciding one answers.
import assert from "node:assert/strict";
import { after } from "node:test";
import { CHANNELS, outcomeOf } from "../harness/channels/channels.ts";
import { inTable } from "../harness/channels/table.ts";
import { askOn, post, read, readItem, startWorld } from "../harness/channels/world.ts";

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

const only = (...allowed: readonly string[]) => ({ action_requests: [REFUND], review_configs: [review(...allowed)] });
const edited = (name: string, args: unknown) => ({ decisions: [{ type: "edit", edited_action: { name, args } }] });
const FORM = { question: "Sure?", response_schema: { type: "boolean" } };
const FIXED = [{ ...HUMAN[0], config: { allow_accept: true } }];
const OTHER = { action: "refund", args: { order: "A-1", amount: 5000 } };

const BROKEN = [
  { name: "no decision", payload: HITL, value: { decisions: [] } },
  {
    name: "two decisions on one action",
    payload: HITL,
    value: { decisions: [{ type: "approve" }, { type: "approve" }] },
  },
  { name: "a word", payload: HITL, value: "yes" },
  { name: "a decision that is not allowed", payload: only("approve"), value: { decisions: [{ type: "reject" }] } },
  { name: "an edit that is not allowed", payload: only("approve"), value: edited("refund", { amount: 1 }) },
  { name: "an edit that renames its action", payload: HITL, value: edited("wipe", {}), whole: true },
  { name: "a response without words", payload: HITL, value: { decisions: [{ type: "respond" }] } },
  { name: "an edit in the other case", payload: CAMEL, value: edited("refund", { amount: 1 }) },
  { name: "acceptance with other arguments", payload: FIXED, value: [{ type: "accept", args: OTHER }] },
  { name: "a response that is not allowed", payload: FIXED, value: [{ type: "response", args: "no" }] },
  { name: "a word for a yes or no", payload: FORM, value: "yes" },
];

inTable("a broken answer is refused (answers-channels.3)", BROKEN, async (channel, { payload, value }) => {
  const asked = await askOn(world, payload);
  const refused = await outcomeOf(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.equal(refused.result, "refused", refused.text);
  if (channel.hasCodes) assert.equal(refused.code, "answer_invalid", refused.text);
  assert.ok(refused.item.response_schema !== undefined, "the rules are shown");
});

const QUORUM = { approvals: 2, rejections: 1 };
const ACCEPT = [{ type: "accept", args: null }];
const UNDECIDED = [
  { name: "accept, then accept of more", payload: HUMAN, value: ACCEPT, next: [{ type: "accept", args: OTHER }] },
  { name: "accept, then an edit", payload: HUMAN, value: ACCEPT, next: [{ type: "edit", args: OTHER }] },
  {
    name: "a rejection with an acceptance beside it",
    payload: HITL,
    value: { decisions: [{ type: "reject" }], "0": { type: "accept" } },
  },
  { name: "a rejection that is an approval for others", payload: "Pay?", value: { approved: false, decision: "yes" } },
  { name: "no as a text", payload: "Pay?", value: { approved: "false" } },
  { name: "no, nested", payload: "Pay?", value: { answer: { approved: false } } },
  { name: "no, in a list", payload: "Pay?", value: [false] },
  { name: "a rejection of another dialect", payload: "Pay?", value: { decisions: [{ type: "reject" }] } },
  {
    name: "a rejection with an edit in it",
    payload: HITL,
    value: { decisions: [{ type: "reject", edited_action: { name: "refund", args: OTHER.args } }] },
  },
];

inTable("one person decides no quorum (answers-channels.4)", UNDECIDED, async (channel, row) => {
  const { payload, value } = row;
  const rules = { review_rules: QUORUM };
  const asked = await askOn(
    world,
    typeof payload === "string"
      ? { question: payload, ...rules }
      : Array.isArray(payload)
        ? payload.map((one) => ({ ...one, ...rules }))
        : { ...payload, ...rules },
  );
  const first = await outcomeOf(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.notEqual(first.result, "answered", first.text);
  if (!("next" in row)) return;
  assert.equal(first.result, "counted", first.text);
  const second = { who: "bob", value: row.next } as const;
  const next = await outcomeOf(world, asked, () => channel.send(world, asked, second));
  assert.notEqual(next.result, "answered", next.text);
});

const YES = { decisions: [{ type: "approve" }] };
const MORE = [
  { name: "an update", more: { update: { payload: "other" } } },
  { name: "another node", more: { goto: "ask" } },
  { name: "a node and an update", more: { goto: ["ask"], update: { payload: "other" } } },
  { name: "a config", more: { config: { configurable: { limit: 1_000_000 } } } },
  { name: "a limit", more: { config: { recursion_limit: 7 } } },
  { name: "a context", more: { context: { limit: 1_000_000 } } },
  { name: "another assistant", more: { assistant_id: "schema" } },
  { name: "other breakpoints", more: { interrupt_before: ["ask"] } },
  { name: "no breakpoints", more: { interrupt_after: [] } },
  { name: "a webhook", more: { webhook: "https://hooks.example.com/run" } },
  { name: "no notifications", more: { notify: false } },
  { name: "metadata", more: { metadata: { limit: 1_000_000 } } },
].map((row) => ({ ...row, value: YES }));

for (const rules of [{ approvals: 2 }, { assignees: ["root", "bob"] }] as const)
  inTable(
    `nothing beside an answer under ${JSON.stringify(rules)} (answers-channels.5)`,
    MORE,
    async (channel, row) => {
      const asked = await askOn(world, { ...HITL, review_rules: rules });
      const { value, more } = row;
      const refused = await outcomeOf(world, asked, () => channel.send(world, asked, { who: "root", value, more }));
      assert.equal(refused.result, "refused", refused.text);
      if (refused.status !== null && refused.status !== 200) assert.equal(refused.status, 422, refused.text);
      assert.ok(refused.code === "invalid_request", refused.text);
    },
  );

/** What clients send with every answer, without changing anything. */
const HARMLESS = [
  { name: "an empty config", more: { config: {} } },
  { name: "the config of the run that asked", more: { config: { configurable: { tone: "dry" } } } },
  { name: "an empty input", more: { input: {} } },
  { name: "an empty context", more: { context: {} } },
  { name: "its durability", more: { durability: "sync" } },
].map((row) => ({ ...row, value: YES }));

inTable("what changes nothing may stand beside an answer (answers-channels.5)", HARMLESS, async (channel, row) => {
  const config = { configurable: { tone: "dry" } };
  const asked = await askOn(world, { ...HITL, review_rules: { assignees: ["ann"] } }, { config });
  const { value, more } = row;
  const { result, text } = await outcomeOf(world, asked, () => channel.send(world, asked, { who: "ann", value, more }));
  assert.equal(result, "answered", text);
});

const GROUND = [
  { name: "an update", body: { command: { update: { notes: "" } } } },
  { name: "another config", body: { input: null, config: { configurable: { limit: 7 } } } },
  { name: "another context", body: { input: null, context: { limit: 7 } } },
].map((row) => ({ ...row, value: YES }));

inTable("votes end with the ground they stand on (answers-channels.6)", GROUND, async (channel, { body, value }) => {
  const asked = await askOn(world, { ...HITL, review_rules: { approvals: 2 } });
  const vote = await outcomeOf(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.equal(vote.result, "counted", vote.text);
  const path = `/threads/${asked.threadId}/runs/wait`;
  const changed = await post(world, "bob", path, { assistant_id: "echo", ...body });
  assert.equal(changed.status, 200, changed.text);
  const [open] = (await read(world, `/inbox?thread_id=${asked.threadId}`)).body["items"] as readonly {
    readonly id: string;
  }[];
  assert.ok(open !== undefined);
  const { review: rules } = await readItem(world, { ...asked, interruptId: open.id });
  assert.deepEqual(rules?.votes, []);
});
