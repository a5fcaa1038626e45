// The table "channel × change of the question": an answer that was given for one content settles no other.
//   swapped-questions.1. After a run asked something else in the place of an open question, the id, address, button or
//        link of the first one answers nothing, over any channel.
//   swapped-questions.2. The new question can be answered, by its id and without one.
//   swapped-questions.3. The deadline of the first question is not that of the second one.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";
import { CHANNELS } from "../harness/channels/channels.ts";
import { type Asked, asWho, askOn, type Item, post, read, readItem, startWorld } from "../harness/channels/world.ts";
import { PATIENCE } from "../harness/patience.ts";

const world = await startWorld();
after(() => world.close());

const refund = (amount: number, to: string, rules: object = {}) => ({
  action_requests: [{ name: "refund", args: { amount, to } }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "reject"] }],
  ...rules,
});
const RULES = { review_rules: { assignees: ["ann"], four_eyes: true } };
const YES = { decisions: [{ type: "approve" }] };
/** They name no question. */
const NAMELESS = /on_paused answer/;

/** @returns both questions: the second one stands in the place of the first */
async function askAndSwap(rules: object): Promise<{ first: Asked; second: Asked }> {
  const first = await askOn(world, refund(5, "customer", rules));
  const command = { update: { payload: refund(1_000_000, "mallory", rules) } };
  const swapped = await post(world, "bob", `/threads/${first.threadId}/runs/wait`, {
    assistant_id: "echo",
    command,
  });
  const [open] = swapped.body["__interrupt__"] as readonly { readonly id: string }[];
  return { first, second: { ...first, interruptId: open?.id ?? "" } };
}

for (const channel of CHANNELS.filter(({ says }) => says(YES)))
  test(`${channel.name}: an answer to the first question settles nothing (swapped-questions.1)`, PATIENCE, async () => {
    const { first, second } = await askAndSwap(RULES);
    assert.notEqual(first.interruptId, second.interruptId);
    const reply = await channel.send(world, first, { who: "ann", value: YES });
    const items = await Promise.all([first, second].map((one) => readItem(world, one)));
    assert.deepEqual(
      items.map(({ state, answered }: Item) => [state, answered]),
      [
        ["abandoned", undefined],
        ["open", undefined],
      ],
      reply.text,
    );
    const code = NAMELESS.test(channel.name) ? "answer_ambiguous" : "interrupt_stale";
    if (channel.hasCodes) assert.equal(reply.code, code, reply.text);
  });

test(
  "under review rules, an answer without an id and with the first checkpoint settles nothing",
  PATIENCE,
  async () => {
    const first = await askOn(world, refund(5, "customer", RULES));
    const path = `/threads/${first.threadId}`;
    const { checkpoint } = (await read(world, `${path}/state`)).body;
    const command = { update: { payload: refund(1_000_000, "mallory", RULES) } };
    await post(world, "bob", `${path}/runs/wait`, { assistant_id: "echo", command });
    const asAnn = (body: object) => post(world, "ann", `${path}/runs/wait`, { assistant_id: "echo", ...body });
    const refused = await asAnn({ command: { resume: YES }, checkpoint });
    assert.deepEqual([refused.status, refused.body["code"]], [409, "answer_ambiguous"], refused.text);
    const [pending] = refused.body["pending"] as readonly { readonly id: string }[];
    const answered = await asAnn({ command: { resume: { [pending?.id ?? ""]: YES } } });
    assert.deepEqual(answered.body["answer"], [YES], answered.text);
  },
);

for (const resume of ["by its id", "without an id"])
  test(`an official client answers the second question ${resume} (swapped-questions.2)`, PATIENCE, async () => {
    const { second } = await askAndSwap({});
    const client = new Client({ apiUrl: world.url, apiKey: null, defaultHeaders: asWho("ann") });
    const state = await client.threads.getState(second.threadId);
    const shown = state.tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => id));
    assert.deepEqual(shown, [second.interruptId]);
    const value = resume === "by its id" ? { [second.interruptId]: YES } : YES;
    const ended = (await client.runs.wait(second.threadId, "echo", { command: { resume: value } })) as {
      answer: unknown;
    };
    assert.deepEqual(ended.answer, [YES]);
    assert.equal((await readItem(world, second)).state, "answered");
  });

test("the first question's deadline does not stay (swapped-questions.3)", PATIENCE, async () => {
  const first = await askOn(world, { ...refund(5, "customer"), expires_in_seconds: 3600 });
  const readDeadline = async (id: string): Promise<unknown> =>
    (await read(world, `/inbox/${first.threadId}/${id}`)).body["deadline"] ?? null;
  assert.notEqual(await readDeadline(first.interruptId), null);
  const body = { assistant_id: "echo", command: { update: { payload: refund(1_000_000, "mallory") } } };
  const swapped = await post(world, "bob", `/threads/${first.threadId}/runs/wait`, body);
  const [open] = swapped.body["__interrupt__"] as readonly { readonly id: string }[];
  assert.equal(await readDeadline(open?.id ?? ""), null);
});
