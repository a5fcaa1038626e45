// Nobody answers in the name of another: the table "channel × attack".
//   who-answers.1. A message that was no answer to its sender answers no question with review rules.
//   who-answers.2. A cron answers no question and continues no breakpoint: nobody decides on a schedule.
//   who-answers.4. Whoever is known by an address alone may be somebody by another name, and answers no question whose rules
//        tell people apart: one with four eyes, exclusions or votes.
//   who-answers.3. Whoever may start runs, but not answer, answers nothing and votes on nothing, over any channel.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { CHANNELS, INPUTS, observeOutcome } from "../harness/channels/channels.ts";
import { askOn, asWho, post, read, startWorld, UNLISTED } from "../harness/channels/world.ts";
import { PATIENCE } from "../harness/patience.ts";
import { call } from "../harness/server.ts";
import { followLog } from "../harness/threads.ts";

const world = await startWorld();
after(() => world.close());

async function newAssistant(metadata: object): Promise<string> {
  const made = await post(world, "root", "/assistants", { graph_id: "echo", metadata });
  assert.equal(made.status, 200, made.text);
  return String(made.body["assistant_id"]);
}

const HELLO = { payload: "hello, what is the status here?" };

suite("the assistant says that input is the answer (who-answers.1)", PATIENCE, async () => {
  const rules = { interrupt_review: { assignees: ["ann"], four_eyes: true } };
  const metadata = { ...rules, on_paused: "answer" };
  const reviewed = "as_given"; // the gateways know the graphs' own assistants only
  const changed = await call(world, "PATCH", `/assistants/${reviewed}`, { metadata }, asWho("root"));
  assert.equal(changed.status, 200, changed.text);
  const plain = await newAssistant({ on_paused: "answer" });
  for (const { name, send } of INPUTS)
    test(`no answer to a question with review rules, over ${name}`, async () => {
      const asked = await askOn(world, "Pay 1M to mallory?", { assistant: reviewed });
      const sent = { who: "ann", value: HELLO } as const;
      const { item, text } = await observeOutcome(world, asked, () => send(world, asked, sent));
      assert.equal(item.state, "open", text);
    });

  test("it is one if the call says so, or if the question has no rules", async () => {
    const [{ send }] = INPUTS as [(typeof INPUTS)[0]];
    for (const [assistant, more] of [
      [reviewed, { on_paused: "answer" }],
      [plain, {}],
    ] as const) {
      const asked = await askOn(world, "Pay?", { assistant });
      const sent = { who: "ann", value: HELLO, more } as const;
      const { result, item, text } = await observeOutcome(world, asked, () => send(world, asked, sent));
      assert.deepEqual([result, item.answered?.by], ["answered", "ann"], text);
    }
  });
});

suite("a cron on a thread that waits (who-answers.2)", PATIENCE, () => {
  const EVERY_SECOND = "* * * * * *";
  const answer = { input: { approved: true }, on_paused: "answer" };

  test("cannot be told to answer, when it is made or changed", async () => {
    const asked = await askOn(world, "Pay?");
    const path = `/threads/${asked.threadId}/runs/crons`;
    const cron = { assistant_id: "echo", schedule: EVERY_SECOND, enabled: false };
    const refused = await post(world, "ann", path, { ...cron, ...answer });
    assert.deepEqual([refused.status, refused.body["code"]], [422, "invalid_request"], refused.text);
    const made = await post(world, "ann", path, cron);
    const changed = await call(world, "PATCH", `/runs/crons/${String(made.body["cron_id"])}`, answer, asWho("ann"));
    assert.deepEqual([changed.status, changed.body["code"]], [422, "invalid_request"], changed.text);
  });

  const answering = newAssistant({ on_paused: "answer" });
  for (const { name, assistant, input } of [
    { name: "an input that its assistant takes as an answer", assistant: answering, input: { approved: true } },
    { name: "a continuation of a breakpoint", assistant: "compiled", input: null },
  ])
    test(`does nothing with ${name}`, async () => {
      const assistantId = await assistant;
      const { body: made } = await post(world, "starter", "/threads", {});
      const threadId = String(made["thread_id"]);
      const start = { assistant_id: assistantId, input: { payload: "Pay?", visited: [] } };
      await post(world, "starter", `/threads/${threadId}/runs/wait`, start);
      const before = await read(world, `/threads/${threadId}/state`);
      const cron = { assistant_id: assistantId, input, schedule: EVERY_SECOND };
      const { body } = await post(world, "ann", `/threads/${threadId}/runs/crons`, cron);
      const due = String(body["next_run_date"]);
      await followLog(world.server, "its tick is over", async () => {
        const { body: now } = await read(world, `/runs/crons/${String(body["cron_id"])}`);
        return now["next_run_date"] === due ? undefined : true;
      });
      await call(world, "DELETE", `/runs/crons/${String(body["cron_id"])}`, undefined, asWho("ann"));
      assert.deepEqual(await read(world, `/threads/${threadId}/state`), before);
      const { body: audit } = await read(world, `/threads/${threadId}/audit`);
      assert.deepEqual(audit["items"], []);
    });
});

suite("a caller without the right to answer (who-answers.3)", PATIENCE, () => {
  const REFUND = { name: "refund", args: { order: "A-1" } };
  const HITL = {
    action_requests: [REFUND],
    review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "reject"] }],
  };
  const value = { decisions: [{ type: "approve" }] };
  for (const [what, payload] of [
    ["answers nothing", HITL],
    ["votes on nothing", { ...HITL, review_rules: { approvals: 2 } }],
  ] as const)
    for (const { name, send, hasCodes, addsMetadata = false } of CHANNELS)
      test(`${what} over ${name}`, async () => {
        const asked = await askOn(world, payload);
        const { result, text } = await observeOutcome(world, asked, () => send(world, asked, { who: "mal", value }));
        assert.equal(result, "refused", text);
        if (hasCodes && !addsMetadata) assert.match(text, /forbidden/);
      });

  const assistant = newAssistant({ on_paused: "answer" });
  for (const { name, send } of INPUTS.filter((one) => !/MCP|A2A/.test(one.name)))
    // those reject without a choice
    test(`answers nothing by an input that its assistant takes as one, over ${name}`, async () => {
      const asked = await askOn(world, "Pay?", { assistant: await assistant });
      const sent = { who: "mal", value: HELLO } as const;
      const { result, text } = await observeOutcome(world, asked, () => send(world, asked, sent));
      assert.equal(result, "refused", text);
      assert.match(text, /forbidden/);
    });

  for (const body of [{ input: null }, { command: { resume: true } }, { command: { update: { visited: ["x"] } } }])
    test(`continues no breakpoint with ${JSON.stringify(body)}`, async () => {
      const { body: made } = await post(world, "starter", "/threads", {});
      const path = `/threads/${String(made["thread_id"])}`;
      await post(world, "mal", `${path}/runs/wait`, { assistant_id: "compiled", input: { visited: [] } });
      const run = { assistant_id: "compiled", ...body };
      const refused = await post(world, "mal", `${path}/runs/wait`, run);
      assert.deepEqual([refused.status, refused.body["code"]], [403, "forbidden"], refused.text);
      assert.equal((await post(world, "ann", `${path}/runs/wait`, run)).status, 200);
      const { body: audit } = await read(world, `${path}/audit`);
      const items = audit["items"] as readonly { readonly by: string }[];
      assert.deepEqual(
        items.map(({ by }) => by),
        ["ann"],
      );
    });

  for (const body of [{ input: null }, { command: { update: { visited: ["x"] } } }])
    test(`continues no breakpoint from its checkpoint with ${JSON.stringify(body)}`, async () => {
      const { body: made } = await post(world, "starter", "/threads", {});
      const path = `/threads/${String(made["thread_id"])}`;
      await post(world, "mal", `${path}/runs/wait`, { assistant_id: "compiled", input: { visited: [] } });
      const { body: state } = await read(world, `${path}/state`);
      const { checkpoint_id: checkpointId } = state["checkpoint"] as { readonly checkpoint_id: string };
      const edited = await post(world, "mal", `${path}/state`, { values: { visited: ["x"] } });
      assert.equal(edited.status, 200, edited.text);
      const run = { assistant_id: "compiled", checkpoint_id: checkpointId, ...body };
      const refused = await post(world, "mal", `${path}/runs/wait`, run);
      assert.deepEqual([refused.status, refused.body["code"]], [403, "forbidden"], refused.text);
    });
});

for (const { name, send } of CHANNELS.filter((one) => ["Slack", "link of an e-mail"].includes(one.name)))
  test(
    `somebody whom the notification file does not list does not pass for another over ${name} (who-answers.4)`,
    PATIENCE,
    async () => {
      const payload = {
        action_requests: [{ name: "pay", args: { amount: 5 } }],
        review_configs: [{ action_name: "pay", allowed_decisions: ["approve", "reject"] }],
      };
      const assignees = ["zed@example.com", "ann"];
      const approve = { who: UNLISTED, value: { decisions: [{ type: "approve" }] } } as const;
      for (const [rules, result] of [
        [{ assignees, four_eyes: true }, "refused"],
        [{ assignees, exclude: [UNLISTED] }, "refused"],
        [{ assignees, approvals: 2 }, "refused"],
        [{ assignees }, "answered"],
      ] as const) {
        const asked = await askOn(world, { ...payload, review_rules: rules }, { starter: UNLISTED });
        const outcome = await observeOutcome(world, asked, () => send(world, asked, approve));
        assert.equal(outcome.result, result, outcome.text);
      }
    },
  );
