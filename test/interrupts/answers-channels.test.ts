// The table "case × channel" of the contract for answers (packages/server/src/interrupts/ARCHITECTURE.md).
//   answers-channels.1. A good answer is taken over every channel, and reaches the graph as it was sent.
//   answers-channels.3. An answer that breaks the rules of its question is refused, and the question stays open.
//   answers-channels.5. An answer to a question with review rules carries nothing but the answer.
//   answers-channels.6. Votes are for the run that asked: whatever changes its ground takes them away.
//   answers-channels.7. Whoever goes around a question needs the right, on every path and in every form of the library.
//   answers-channels.8. The rules of a question do not fall with its assistant.
//   answers-channels.9. A body that grants, limits or schedules refuses members that it would drop.
//   answers-channels.10. A deployment, or a node, takes answers as they are given.
//   answers-channels.11. A question for people only takes no answer over the gateways for models.
//   answers-channels.4. One person decides no quorum, whatever form the vote has.
//   answers-channels.2. A vote counts over every channel, and the deciding one answers.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { CHANNELS, observeOutcome } from "../harness/channels/channels.ts";
import { inTable, WHOLE } from "../harness/channels/table.ts";
import { PATIENCE } from "../harness/patience.ts";
import { call, ROOT } from "../harness/server.ts";
import { followLog } from "../harness/threads.ts";
import { type Asked, asWho, askOn, post, read, readItem, startWorld, type Who } from "../harness/channels/world.ts";

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
  {
    name: "reject, the rest of two reviews",
    payload: { action_requests: [REFUND], review_configs: [review("approve"), review("edit")] },
    value: { decisions: [{ type: "reject" }] },
  },
];

inTable("a good answer is taken (answers-channels.1)", GOOD, async (channel, { payload, value }) => {
  const asked = await askOn(world, payload);
  const { result, item, text } = await observeOutcome(world, asked, () =>
    channel.send(world, asked, { who: "ann", value }),
  );
  assert.equal(result, "answered", text);
  assert.deepEqual(item.answered?.value, value);
});

const REVIEWED = { ...HITL, review_rules: { approvals: 2 } };
const APPROVE = { decisions: [{ type: "approve" }] };
const VOTES = CHANNELS.filter(({ addsMetadata }) => addsMetadata !== true).map(
  ({ name }) => ({ name: `after a vote over ${name}`, first: name, value: APPROVE, reviewed: true }) as const,
);

inTable("votes add up across channels (answers-channels.2)", VOTES, async (channel, { first, value }) => {
  const asked = await askOn(world, REVIEWED);
  const before = CHANNELS.find(({ name }) => name === first) ?? channel;
  const vote = await observeOutcome(world, asked, () => before.send(world, asked, { who: "ann", value }));
  assert.equal(vote.result, "counted", vote.text);
  const again = await observeOutcome(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.equal(again.result, "refused", again.text);
  const decided = await observeOutcome(world, asked, () => channel.send(world, asked, { who: "bob", value }));
  assert.equal(decided.result, "answered", decided.text);
});

for (const channel of CHANNELS.filter(({ addsMetadata }) => addsMetadata === true))
  test(`${channel.name} adds metadata: it is no vote (answers-channels.5)`, PATIENCE, async () => {
    const asked = await askOn(world, REVIEWED);
    for (const who of ["ann", "bob"] as const) {
      const { result, text } = await observeOutcome(world, asked, () =>
        channel.send(world, asked, { who, value: APPROVE }),
      );
      assert.equal(result, "refused", text);
    }
  });

const only = (...allowed: readonly string[]) => ({ action_requests: [REFUND], review_configs: [review(...allowed)] });
const edited = (name: string, args: unknown) => ({ decisions: [{ type: "edit", edited_action: { name, args } }] });
const FORM = { question: "Sure?", response_schema: { type: "boolean" } };
const FIXED = [{ ...HUMAN[0], config: { allow_accept: true } }];
const OTHER = { action: "refund", args: { order: "A-1", amount: 5000 } };

const reviewedBy = (...reviews: readonly object[]) => ({ action_requests: [REFUND], review_configs: reviews });
const most = (maximum: number) => ({ type: "object", properties: { amount: { type: "number", maximum } } });
const TWICE = reviewedBy(review("approve", "reject"), review("approve", "edit", "reject"));
const TURNED = reviewedBy(review("approve", "edit", "reject"), review("approve", "reject"));
const SCHEMAS = reviewedBy(
  { ...review("approve", "edit"), args_schema: most(5) },
  { ...review("approve", "edit"), args_schema: most(50) },
);
const NOTHING = reviewedBy(review("approve"), review("edit"));

const BROKEN = [
  { name: "no decision", payload: HITL, value: { decisions: [] } },
  {
    name: "two decisions on one action",
    payload: HITL,
    value: { decisions: [{ type: "approve" }, { type: "approve" }] },
  },
  { name: "a word", payload: HITL, value: "yes", whole: true },
  { name: "a decision that is not allowed", payload: only("approve"), value: { decisions: [{ type: "reject" }] } },
  { name: "an edit that is not allowed", payload: only("approve"), value: edited("refund", { amount: 1 }) },
  { name: "an edit that renames its action", payload: HITL, value: edited("wipe", {}), whole: true },
  {
    name: "an edit inside of an approval",
    payload: HITL,
    value: { decisions: [{ type: "approve", edited_action: { name: "wipe", args: {} } }] },
  },
  { name: "a response without words", payload: HITL, value: { decisions: [{ type: "respond" }] } },
  { name: "an edit in the other case", payload: CAMEL, value: edited("refund", { amount: 1 }), whole: true },
  { name: "acceptance with other arguments", payload: FIXED, value: [{ type: "accept", args: OTHER }] },
  { name: "a response that is not allowed", payload: FIXED, value: [{ type: "response", args: "no" }] },
  { name: "a word for a yes or no", payload: FORM, value: "yes" },
  { name: "an edit that one of two reviews allows", payload: TWICE, value: edited("refund", { amount: 1 }) },
  { name: "an edit that the first review allows", payload: TURNED, value: edited("refund", { amount: 1 }) },
  { name: "an edit that one of two schemas refuses", payload: SCHEMAS, value: edited("refund", { amount: 9 }) },
  { name: "an approval that no two reviews allow", payload: NOTHING, value: { decisions: [{ type: "approve" }] } },
];

inTable("a broken answer is refused (answers-channels.3)", BROKEN, async (channel, { payload, value }) => {
  const asked = await askOn(world, payload);
  const refused = await observeOutcome(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.equal(refused.result, "refused", refused.text);
  if (channel.hasCodes) assert.equal(refused.code, "answer_invalid", refused.text);
  assert.ok(refused.item.response_schema !== undefined, "the rules are shown");
});

/** The default answer of a deadline: by the assistant that asks. */
async function askWithDeadline(payload: unknown, onExpiry: object): Promise<Asked> {
  const deadline = { expires_in_seconds: 0.01, on_expiry: onExpiry };
  const made = await post(world, "root", "/assistants", {
    graph_id: "echo",
    metadata: { interrupt_deadline: deadline },
  });
  return askOn(world, payload, { assistant: String(made.body["assistant_id"]) });
}

async function assertAnsweredByDeadline(asked: Asked, value: unknown): Promise<void> {
  const item = await followLog(world.server, "the deadline acts", async () => {
    const now = await readItem(world, asked);
    return now.state === "answered" ? now : undefined;
  });
  assert.deepEqual([item.answered?.by, item.answered?.value], ["deadline", value]);
}

const few = <R>(rows: readonly R[]): readonly R[] => (WHOLE ? rows : rows.slice(0, 3));

for (const { name, payload, value } of few(GOOD))
  test(`${name}, by the deadline (answers-channels.1)`, PATIENCE, async () => {
    await assertAnsweredByDeadline(await askWithDeadline(payload, { answer: value }), value);
  });

// Who may change the review rules sets the default answer too: it needs no votes.
for (const rules of [{ approvals: 3 }, { assignees: ["bob"] }, { exclude: ["group:all"] }, { four_eyes: true }])
  test(`the deadline decides alone under ${JSON.stringify(rules)} (answers-channels.2)`, PATIENCE, async () => {
    const asked = await askWithDeadline({ ...HITL, review_rules: rules }, { answer: APPROVE });
    await assertAnsweredByDeadline(asked, APPROVE);
  });

test("the deadline brings nothing beside its answer (answers-channels.5)", PATIENCE, async () => {
  const more = { update: { payload: "other" }, goto: "ask", config: { configurable: { limit: 1 } } };
  const asked = await askWithDeadline({ ...HITL, review_rules: { approvals: 2 } }, { answer: APPROVE, ...more });
  await assertAnsweredByDeadline(asked, APPROVE);
  const [values] = await followLog(world.server, "the thread is idle", async () => {
    const { body } = await read(world, `/threads/${asked.threadId}`);
    return body["status"] === "idle" ? [body["values"]] : undefined;
  });
  assert.deepEqual(values, { payload: { ...HITL, review_rules: { approvals: 2 } }, answer: [APPROVE] });
});

for (const { name, payload, value } of few(BROKEN))
  test(`${name}, by the deadline: refused (answers-channels.3)`, PATIENCE, async () => {
    const asked = await askWithDeadline(payload, { answer: value });
    await followLog(world.server, "the deadline acts", async () => {
      const { text } = await read(world, `/threads/${asked.threadId}/audit`);
      return text.includes('"expiry_refused"') ? true : undefined;
    });
    assert.equal((await readItem(world, asked)).state, "open");
  });

const FOR_PEOPLE = [
  { name: "in the payload", payload: { ...HITL, audience: "human" } },
  { name: "in a list", payload: HUMAN.map((one) => ({ ...one, audience: "human" })) },
];
const MODELS = CHANNELS.filter(({ name }) => /MCP|A2A/.test(name));

for (const { name, payload } of FOR_PEOPLE)
  for (const channel of MODELS)
    test(`for people only, ${name}: refused over ${channel.name} (answers-channels.11)`, PATIENCE, async () => {
      const asked = await askOn(world, payload);
      const value = Array.isArray(payload) ? [{ type: "accept", args: null }] : APPROVE;
      const sent = channel.says(value) ? value : APPROVE;
      const { result, text } = await observeOutcome(world, asked, () =>
        channel.send(world, asked, { who: "ann", value: sent }),
      );
      assert.equal(result, "refused", text);
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

const ALONE = UNDECIDED.map((row) => ({ ...row, reviewed: true }) as const);

inTable("one person decides no quorum (answers-channels.4)", ALONE, async (channel, row) => {
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
  const first = await observeOutcome(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.notEqual(first.result, "answered", first.text);
  if (!("next" in row)) return;
  assert.equal(first.result, "counted", first.text);
  const second = { who: "bob", value: row.next } as const;
  const next = await observeOutcome(world, asked, () => channel.send(world, asked, second));
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
      const refused = await observeOutcome(world, asked, () =>
        channel.send(world, asked, { who: "root", value, more }),
      );
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
  const { result, text } = await observeOutcome(world, asked, () =>
    channel.send(world, asked, { who: "ann", value, more }),
  );
  assert.equal(result, "answered", text);
});

/** @returns the question with rules and the one without, of one thread */
async function askBeside(payload: unknown, more: object = {}): Promise<{ reviewed: Asked; plain: Asked }> {
  const asked = await askOn(world, payload, { assistant: "beside", ...more });
  const { body } = await read(world, `/inbox?thread_id=${asked.threadId}`);
  const items = body["items"] as readonly { readonly id: string; readonly review?: object | null }[];
  const find = (isReviewed: boolean): Asked => {
    const { id = "" } = items.find(({ review: rules }) => ((rules ?? null) !== null) === isReviewed) ?? {};
    return { ...asked, interruptId: id };
  };
  return { reviewed: find(true), plain: find(false) };
}

async function assertVotes(asked: Asked, count: number): Promise<void> {
  const { state, review: rules } = await readItem(world, asked);
  assert.deepEqual([state, rules?.votes.length], ["open", count]);
}

async function askAndVote(): Promise<{ reviewed: Asked; plain: Asked }> {
  const both = await askBeside({ ...HITL, review_rules: { approvals: 2 } });
  const answer = { thread_id: both.reviewed.threadId, interrupt_id: both.reviewed.interruptId, resume: YES };
  await post(world, "ann", "/inbox/answers", [answer]);
  await assertVotes(both.reviewed, 1);
  return both;
}

const BESIDE = MORE.map((row) => ({ ...row, value: "blue" }));

inTable("nor beside the answer to a sibling without rules (answers-channels.5)", BESIDE, async (channel, row) => {
  const { reviewed, plain } = await askAndVote();
  const { value, more } = row;
  const { result, code, text } = await observeOutcome(world, plain, () =>
    channel.send(world, plain, { who: "root", value, more }),
  );
  assert.equal(result, "refused", text);
  assert.equal(code, channel.name.includes("on_paused") ? "answer_ambiguous" : "invalid_request", text);
  await assertVotes(reviewed, 1);
});

const SIBLING = [{ name: "the answer to a sibling alone", value: "blue", reviewed: true }] as const;

inTable("keeps the votes (answers-channels.6)", SIBLING, async (channel, { value }) => {
  const { reviewed, plain } = await askAndVote();
  const { result, text } = await observeOutcome(world, plain, () => channel.send(world, plain, { who: "bob", value }));
  if (channel.name.includes("on_paused")) assert.equal(result, "refused", text);
  else assert.equal(result, "answered", text);
  await followLog(world.server, "the thread waits again", async () => {
    const { body } = await read(world, `/threads/${reviewed.threadId}`);
    return body["status"] === "interrupted" ? true : undefined;
  });
  await assertVotes(reviewed, 1);
});

const RUNS = CHANNELS.filter(({ name, carries }) => name.startsWith("POST ") && carries.includes("goto"));
const CONTINUED = MORE.filter(({ more }) => !("update" in more) && !("goto" in more) && !("assistant_id" in more));

for (const [position, { name, more }] of CONTINUED.entries())
  for (const begin of [{ input: null, command: {} }, { command: { update: { payload: "other" } } }])
    for (const { name: path, send } of WHOLE
      ? RUNS
      : [RUNS[position % RUNS.length] ?? RUNS[0]].filter((one) => !!one)) {
      const kind = "input" in begin ? "a continuation" : "an update";
      test(
        `${kind} beside ${name} is refused at a question with rules, over ${path} (answers-channels.5)`,
        PATIENCE,
        async () => {
          const { reviewed } = await askAndVote();
          const refused = await send(world, reviewed, { who: "root", value: undefined, more: { ...begin, ...more } });
          assert.deepEqual([refused.status, refused.code], [422, "invalid_request"], refused.text);
          await assertVotes(reviewed, 1);
        },
      );
    }

const DISPLACING = [
  { name: "a config", body: { input: null, config: { configurable: { limit: 7 } } }, code: "invalid_request" },
  {
    name: "a context with an update",
    body: { command: { update: {} }, context: { limit: 7 } },
    code: "invalid_request",
  },
  { name: "a node", body: { command: { goto: "act" } }, code: "forbidden" },
  { name: "another assistant", body: { assistant_id: "echo", input: null }, code: "forbidden" },
];

for (const strategy of ["interrupt", "rollback"])
  for (const decides of [false, true])
    for (const { name, body, code } of DISPLACING)
      test(
        `${name} does not ${strategy} the answer to ${decides ? "both" : "a sibling"} (answers-channels.7)`,
        PATIENCE,
        async () => {
          const { reviewed, plain } = await askAndVote();
          const { threadId, interruptId } = reviewed;
          const given = [{ thread_id: threadId, interrupt_id: plain.interruptId, resume: "never dries" }];
          if (decides) given.push({ thread_id: threadId, interrupt_id: interruptId, resume: YES as never });
          const answered = await post(world, "bob", "/inbox/answers", given);
          const [{ run_id: runId, status }] = answered.body["results"] as readonly [{ run_id: string; status: string }];
          assert.equal(status, "answered", answered.text);
          const run = { assistant_id: "beside", multitask_strategy: strategy, ...body };
          const refused = await post(world, "cyd", `/threads/${threadId}/runs`, run);
          assert.equal((refused.body as { readonly code?: string }).code, code, refused.text);
          if (!decides) await assertVotes(reviewed, 1);
          await post(world, "root", `/threads/${threadId}/runs/${runId}/cancel?wait=true`, {});
        },
      );

for (const [name, breakpoints, next] of [
  ["config", {}, []],
  ["breakpoints", { interrupt_before: ["act"] }, ["act"]],
] as const)
  test(`a run under review rules keeps the ${name} of the one that asked (answers-channels.5)`, PATIENCE, async () => {
    const assistant = await newAssistant("beside");
    const rules = { ...HITL, review_rules: { assignees: ["ann", "bob"] } };
    const { reviewed, plain } = await askBeside(rules, { assistant, ...breakpoints });
    const config = { configurable: { limit: 1_000_000 } };
    assert.equal((await call(world, "PATCH", `/assistants/${assistant}`, { config }, asWho("cyd"))).status, 200);
    const path = `/threads/${reviewed.threadId}`;
    const resume = { [reviewed.interruptId]: YES, [plain.interruptId]: "blue" };
    const body = { assistant_id: assistant, command: { resume } };
    const { status, text } = await post(world, "ann", `${path}/runs/wait`, body, { "x-limit": "1000000" });
    assert.equal(status, 200, text);
    const state = (await read(world, `${path}/state`)).body as {
      readonly next: unknown;
      readonly values: { readonly limits?: unknown };
    };
    assert.deepEqual(state.next, next);
    if (next.length === 0) assert.deepEqual(state.values.limits, { limit: null, header: null });
  });

const BIG = 2 ** 53;
const NUMBERS = [
  { name: "a whole number", value: BIG },
  { name: "one below zero", value: { amount: -BIG } },
  { name: "one in a list", value: [{ amounts: [1, BIG + 2] }] },
  { name: "a very large one", value: { amount: 1e300 } },
].map((row) => ({ ...row, reviewed: true }) as const);

inTable("a number that is rounded is no vote (answers-channels.4)", NUMBERS, async (channel, { value }) => {
  const asked = await askOn(world, { question: "Pay?", review_rules: { approvals: 2 } });
  const refused = await observeOutcome(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.equal(refused.result, "refused", refused.text);
  if (channel.hasCodes) assert.equal(refused.code, "answer_invalid", refused.text);
});

const EXACT = [
  { name: "its text", question: "Pay?", value: String(BIG), rules: { approvals: 2 } },
  { name: "the largest exact number", question: "Pay?", value: BIG - 1, rules: { approvals: 2 } },
  { name: "a number of the question", question: { pay: BIG }, value: { amount: BIG }, rules: { approvals: 2 } },
  { name: "one person's number", question: "Pay?", value: BIG, rules: { assignees: ["ann"] } },
].map((row) => ({ ...row, reviewed: true }) as const);

inTable("other numbers count (answers-channels.4)", EXACT, async (channel, { question, value, rules }) => {
  const asked = await askOn(world, { question, review_rules: rules });
  const { result, text } = await observeOutcome(world, asked, () => channel.send(world, asked, { who: "ann", value }));
  assert.equal(result, "approvals" in rules ? "counted" : "answered", text);
});

const GROUND = [{ name: "an update", body: { command: { update: { notes: "" } } } }].map(
  (row) => ({ ...row, value: YES, reviewed: true }) as const,
);

inTable("votes end with the ground they stand on (answers-channels.6)", GROUND, async (channel, { body, value }) => {
  const asked = await askOn(world, { ...HITL, review_rules: { approvals: 2 } });
  const vote = await observeOutcome(world, asked, () => channel.send(world, asked, { who: "ann", value }));
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

const AROUND = [
  { name: "a node", command: { goto: "ask" } },
  { name: "a list of nodes", command: { goto: ["ask", "__end__"] } },
  { name: "a node with its input", command: { goto: { node: "ask", input: {} } } },
  { name: "a node and an update", command: { goto: "ask", update: { payload: 1 } } },
];
const RUN_PATHS = CHANNELS.filter(({ name, carries }) => name.startsWith("POST ") && carries.includes("goto"));

for (const { name, command } of AROUND)
  for (const { name: path, send } of RUN_PATHS)
    test(`${name}, over ${path}: to go around needs the right (answers-channels.7)`, PATIENCE, async () => {
      const asked = await askOn(world, "Pay?");
      const go = (who: Who) =>
        observeOutcome(world, asked, () => send(world, asked, { who, value: undefined, more: { command } }));
      const refused = await go("ann");
      assert.deepEqual([refused.result, refused.code], ["refused", "forbidden"], refused.text);
      const went = await go("root");
      assert.ok(went.status === 200, went.text);
    });

/** `as_node` and the values of an edit, as both versions of the library read them. */
const EDITS: readonly (readonly [name: string, edit: object, needs: 200 | 403 | 422 | "never"])[] = [
  ["a node", { values: {}, as_node: "ask" }, 403],
  ["pairs of values and nodes", { values: [[{ answer: ["forged"] }, "ask"]], as_node: "__copy__" }, 403],
  [
    "several pairs",
    {
      values: [
        [{}, "ask"],
        [{}, "ask"],
      ],
      as_node: "__copy__",
    },
    403,
  ],
  ["the start", { values: {}, as_node: "__start__" }, 403],
  ["the input", { values: { payload: 1 }, as_node: "__input__" }, 403],
  ["the library's name for answers", { values: {}, as_node: "__resume__" }, "never"],
  ["the library's name for questions", { values: {}, as_node: "__interrupt__" }, "never"],
  ["the library's name for errors", { values: {}, as_node: "__error__" }, "never"],
  ["the library's name for sent tasks", { values: {}, as_node: "__pregel_tasks" }, "never"],
  ["a node that nobody knows", { values: {}, as_node: "nonesuch" }, "never"],
  ["a command as values", { values: { lg_name: "Command", goto: "ask" } }, 422],
  ["a sent task as values", { values: [{ lg_name: "Send", node: "ask", args: {} }] }, 422],
  ["a copy", { values: null, as_node: "__copy__" }, 200],
  ["the end", { values: null, as_node: "__end__" }, 200],
  ["values alone", { values: { notes: "" } }, 200],
];

for (const [name, edit, needs] of EDITS)
  test(`an edit as ${name} is ${needs} without the right (answers-channels.7)`, PATIENCE, async () => {
    const asked = await askOn(world, "Pay?");
    const path = `/threads/${asked.threadId}/state`;
    const edited = await post(world, "ann", path, edit);
    assert.equal(edited.status, needs === "never" ? 403 : needs, edited.text);
    if (needs === 200) return;
    assert.equal((await readItem(world, asked)).state, "open");
    assert.equal((await post(world, "root", path, edit)).status, needs === 403 ? 200 : 422);
  });

async function newAssistant(graph: string, metadata: object = {}): Promise<string> {
  const made = await post(world, "root", "/assistants", { graph_id: graph, metadata });
  assert.equal(made.status, 200, made.text);
  return String(made.body["assistant_id"]);
}

const RULES = { interrupt_review: { approvals: 2 } };

test("a restored version without rules needs the right to change them (answers-channels.8)", PATIENCE, async () => {
  const id = await newAssistant("echo");
  const patched = await call(world, "PATCH", `/assistants/${id}`, { metadata: RULES }, asWho("root"));
  assert.equal(patched.status, 200, patched.text);
  const restored = (who: string) => post(world, who, `/assistants/${id}/latest`, { version: 1 });
  assert.equal((await restored("ann")).status, 403);
  assert.equal((await restored("root")).status, 200);
  assert.equal((await post(world, "ann", `/assistants/${id}/latest`, { version: 1 })).status, 200, "changes no rules");
});

test("an assistant with rules is deleted by whoever may change them (answers-channels.8)", PATIENCE, async () => {
  const id = await newAssistant("echo", RULES);
  const deleted = (who: string) => call(world, "DELETE", `/assistants/${id}`, undefined, asWho(who));
  assert.equal((await deleted("ann")).status, 403);
  const plain = await newAssistant("echo");
  assert.equal((await call(world, "DELETE", `/assistants/${plain}`, undefined, asWho("ann"))).status, 200);
  assert.equal((await deleted("root")).status, 200);
});

for (const [name, body, edit] of [
  ["a continuation", { input: null }, null],
  ["an update", { command: { update: { notes: "" } } }, null],
  ["a continuation behind an edit", { input: null }, { values: { notes: "" } }],
  ["an update behind an edit", { command: { update: { notes: "" } } }, { values: { notes: "" } }],
] as const)
  test(`${name} by another assistant keeps the rules, or needs the right (answers-channels.8)`, PATIENCE, async () => {
    const asked = await askOn(world, "Pay?", { assistant: await newAssistant("echo", RULES) });
    if (edit !== null) assert.equal((await post(world, "ann", `/threads/${asked.threadId}/state`, edit)).status, 200);
    const path = `/threads/${asked.threadId}/runs/wait`;
    const other = await newAssistant("echo");
    for (const assistant of ["echo", other])
      assert.equal((await post(world, "ann", path, { assistant_id: assistant, ...body })).status, 403);
    assert.equal((await post(world, "root", path, { assistant_id: other, ...body })).status, 200);
  });

test("a breakpoint of an assistant with rules waits for so many people (answers-channels.8)", PATIENCE, async () => {
  const assistant = await newAssistant("compiled", { interrupt_review: { approvals: 2, assignees: ["ann", "bob"] } });
  const { body: thread } = await post(world, "cyd", "/threads", {});
  const path = `/threads/${String(thread["thread_id"])}`;
  const go = (who: string, more: object) => post(world, who, `${path}/runs/wait`, { assistant_id: assistant, ...more });
  assert.equal((await go("cyd", { input: { visited: [] } })).status, 200);
  const [item] = (await read(world, `/inbox?thread_id=${String(thread["thread_id"])}`)).body["items"] as readonly [
    { readonly id: string; readonly review: object },
  ];
  assert.ok(item.review !== null);
  const readCode = (answer: { readonly body: never }) => (answer.body as { readonly code?: string }).code ?? null;
  assert.equal(readCode(await go("cyd", { input: null })), "reviewer_not_assigned");
  assert.equal(readCode(await go("ann", { input: null, config: { configurable: { limit: 1 } } })), "invalid_request");
  assert.equal(readCode(await go("ann", { command: { update: { visited: ["x"] } } })), "invalid_request");
  assert.equal(readCode(await go("ann", { input: null })), "approvals_pending");
  assert.equal(readCode(await go("ann", { command: { resume: true } })), "approvals_pending");
  const edited = await post(world, "cyd", `${path}/state`, { values: { visited: ["y"] } });
  assert.equal(edited.status, 200, edited.text);
  assert.equal(readCode(await go("bob", { input: null })), "approvals_pending", "an edit ends the votes");
  assert.equal((await go("ann", { input: null })).status, 200);
  assert.deepEqual((await read(world, `${path}/state`)).body["next"], []);
});

const NO_STATE = `/threads/${crypto.randomUUID()}/state`;
const SCHEDULE = { assistant_id: "echo", schedule: "0 0 1 1 *" };
const STRICT: readonly (readonly [name: string, path: string, body: object, member: string])[] = [
  ["a key", "/keys", { name: "k", role: "viewer", assistant: "echo" }, "assistant"],
  ["a key with limits", "/keys", { name: "k", role: "viewer", limits: {} }, "limits"],
  ["a key with an end", "/keys", { name: "k", role: "viewer", expires_at: "2030-01-01T00:00:00Z" }, "expires_at"],
  ["a cron with an answer", "/runs/crons", { ...SCHEDULE, command: { resume: "yes" } }, "command"],
  ["a cron at a checkpoint", "/runs/crons", { ...SCHEDULE, checkpoint_id: crypto.randomUUID() }, "checkpoint_id"],
  ["a cron with a typing error", "/runs/crons", { ...SCHEDULE, end_tine: "2030-01-01" }, "end_tine"],
  ["an assistant with rules in the wrong place", "/assistants", { graph_id: "echo", ...RULES }, "interrupt_review"],
  ["an edit with a node in another spelling", NO_STATE, { values: {}, asNode: "ask" }, "asNode"],
  ["a run with onPaused", "/runs/wait", { assistant_id: "echo", input: {}, onPaused: "reject" }, "onPaused"],
  ["a key with expiresInDays", "/keys", { name: "k", role: "viewer", expiresInDays: 1 }, "expiresInDays"],
  ["a time to live with a typing error", "/threads", { ttl: { ttl: 1, strategie: "delete" } }, "ttl"],
];

for (const [name, path, body, member] of STRICT)
  test(`${name} is refused with the name of the member (answers-channels.9)`, PATIENCE, async () => {
    const { status, text } = await post(world, "root", path, body);
    assert.equal(status, 422, text);
    assert.match(text, new RegExp(`"path":"${member}`));
  });

for (const [name, more] of Object.entries({
  "an inbox answer with an update": { update: { payload: 1 } },
  "an inbox answer with a node": { goto: "ask" },
}))
  test(`${name} is refused (answers-channels.9)`, PATIENCE, async () => {
    const asked = await askOn(world, "Pay?");
    const answer = { thread_id: asked.threadId, interrupt_id: asked.interruptId, resume: "yes", ...more };
    assert.equal((await post(world, "ann", "/inbox/answers", [answer])).status, 422);
    assert.equal((await readItem(world, asked)).state, "open");
  });

test("the official client's crons and assistants work as they are (answers-channels.9)", PATIENCE, async () => {
  const client = new Client({ apiUrl: world.url, apiKey: null, defaultHeaders: asWho("root") });
  const { assistant_id: id } = await client.assistants.create({
    graphId: "echo",
    name: "own",
    config: {},
    context: {},
  });
  await client.assistants.update(id, { graphId: "echo", name: "other", description: "d", metadata: {}, config: {} });
  await client.assistants.setLatest(id, 1);
  const cron = await client.crons.create(id, {
    schedule: "0 0 1 1 *",
    input: {},
    metadata: {},
    config: {},
    context: {},
    interruptBefore: ["ask"],
    interruptAfter: [],
    multitaskStrategy: "enqueue",
    onRunCompleted: "keep",
    enabled: false,
    timezone: "UTC",
    endTime: "2031-01-01T00:00:00Z",
    streamMode: ["values"],
    streamSubgraphs: false,
    streamResumable: false,
    durability: "async",
    ifNotExists: "create",
    onDisconnect: "continue",
  });
  assert.ok("cron_id" in cron);
  await client.crons.update(cron.cron_id, { schedule: "1 0 1 1 *", enabled: false, input: {}, metadata: {} });
});

const LOOKS_ALIKE = { decisions: [] };

test("a node takes answers as they are given (answers-channels.10)", PATIENCE, async () => {
  const asked = await askOn(world, HITL, { assistant: "as_given" });
  assert.deepEqual((await readItem(world, asked)).response_schema, { interrupt_answers: "as_given" });
  const resumed = { assistant_id: "as_given", command: { resume: LOOKS_ALIKE } };
  const { status, text } = await post(world, "ann", `/threads/${asked.threadId}/runs/wait`, resumed);
  assert.equal(status, 200, text);
});

test("a deployment takes answers as they are given (answers-channels.10)", PATIENCE, async () => {
  const other = await startWorld(join(ROOT, "test", "graphs", "answers", "as-given.json"));
  const asked = await askOn(other, HITL);
  assert.equal((await readItem(other, asked)).response_schema, undefined);
  const resumed = { assistant_id: "echo", command: { resume: LOOKS_ALIKE } };
  const { status, text } = await post(other, "ann", `/threads/${asked.threadId}/runs/wait`, resumed);
  await other.close();
  assert.equal(status, 200, text);
});
