// Nobody answers in the name of another: the table "channel × attack".
//   who-answers.1. A message that was no answer to its sender answers no question with review rules.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { INPUTS, observeOutcome } from "../harness/channels/channels.ts";
import { askOn, asWho, post, startWorld } from "../harness/channels/world.ts";
import { PATIENCE } from "../harness/patience.ts";
import { call } from "../harness/server.ts";

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
  const reviewed = "echo"; // the gateways know the graphs' own assistants only
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
