// Tests of bulk approvals: what is taken together, what is left out (bulk-dialog.1 of bulk-dialog.tsx).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListedItem } from "../../../data/inbox/item.ts";
import { planOf } from "./bulk.ts";

let count = 0;
function item(value: unknown, more: Partial<ListedItem> = {}): ListedItem {
  count++;
  return {
    id: `i${count}`,
    thread_id: "t",
    graph_id: "shop",
    node: "approval",
    kind: "tool_approval",
    action: null,
    state: "open",
    value,
    ...more,
  } as unknown as ListedItem;
}
const refund = (amount: number, more: Partial<ListedItem> = {}) =>
  item({ action_requests: [{ name: "refund", args: { amount } }] }, { action: "refund", ...more });
const ids = (list: readonly { readonly id: string }[]): readonly string[] => list.map(({ id }) => id);

test("items of one graph and one action are approved together, each with its own args", () => {
  const [one, two] = [refund(1), refund(2)];
  const plan = planOf([one, two]);
  assert.equal(plan.what, "refund");
  assert.deepEqual(plan.left, []);
  assert.deepEqual(
    plan.taken.map(({ resume, args }) => [resume, args]),
    [
      [{ decisions: [{ type: "approve" }] }, { amount: 1 }],
      [{ decisions: [{ type: "approve" }] }, { amount: 2 }],
    ],
  );
});

test("excludes another graph, another action, another number of actions, items that do not allow approval, and closed items", () => {
  const first = refund(1);
  const others = [
    refund(2, { graph_id: "bank" }),
    item({ action_requests: [{ name: "mail", args: {} }] }),
    item({ action_requests: [{ name: "refund" }, { name: "refund" }] }),
    item({
      action_requests: [{ name: "refund" }],
      review_configs: [{ action_name: "refund", allowed_decisions: ["reject"] }],
    }),
    refund(3, { state: "answered" }),
    item("Why?", { kind: "question" }),
  ];
  const plan = planOf([first, ...others]);
  assert.deepEqual(ids(plan.taken.map(({ item: taken }) => taken)), ids([first]));
  assert.deepEqual(ids(plan.left), ids(others));
});

test("the first approvable item determines the group", () => {
  const plan = planOf([item("Why?"), refund(1), refund(2)]);
  assert.equal(plan.taken.length, 2);
  assert.equal(planOf([item("Why?")]).taken.length, 0);
});

test("breakpoints before the same node are passed together, without an answer", () => {
  const stop = () => item(null, { kind: "breakpoint", node: "send" });
  const plan = planOf([stop(), stop(), item(null, { kind: "breakpoint", node: "plan" })]);
  assert.equal(plan.what, "send");
  assert.deepEqual(
    plan.taken.map(({ resume }) => resume),
    [undefined, undefined],
  );
  assert.equal(plan.left.length, 1);
});
