// Tests of bulk decisions: what is taken together, what is left out (bulk-dialog.1 of bulk-dialog.tsx).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { buildPlan } from "./bulk.ts";

const APPROVE = { type: "approve" } as const;

let count = 0;
function item(value: unknown, more: Partial<InboxItem> = {}): InboxItem {
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
  } as unknown as InboxItem;
}
const refund = (amount: number, more: Partial<InboxItem> = {}) =>
  item({ action_requests: [{ name: "refund", args: { amount } }] }, { action: "refund", ...more });
const ids = (list: readonly { readonly id: string }[]): readonly string[] => list.map(({ id }) => id);

test("items of one graph and one action are approved together, each with its own args", () => {
  const [one, two] = [refund(1), refund(2)];
  const plan = buildPlan([one, two], APPROVE);
  assert.deepEqual(
    plan.groups.map(({ what }) => what),
    ["refund"],
  );
  assert.deepEqual(plan.left, []);
  assert.deepEqual(
    plan.planned.map(({ resume, args }) => [resume, args]),
    [
      [{ decisions: [{ type: "approve" }] }, { amount: 1 }],
      [{ decisions: [{ type: "approve" }] }, { amount: 2 }],
    ],
  );
});

test("items of other graphs and actions are groups of their own; those that do not allow approval are left out", () => {
  const first = refund(1);
  const groups = [
    [first, refund(4)],
    [refund(2, { graph_id: "bank" })],
    [item({ action_requests: [{ name: "mail", args: {} }] }, { action: "mail" })],
    [item({ action_requests: [{ name: "refund" }, { name: "refund" }] }, { action: "refund" })],
  ];
  const left = [
    item({
      action_requests: [{ name: "refund" }],
      review_configs: [{ action_name: "refund", allowed_decisions: ["reject"] }],
    }),
    refund(3, { state: "answered" }),
    item("Why?", { kind: "question" }),
  ];
  const dangerous = refund(9, { dangerous: true });
  assert.deepEqual(ids(buildPlan([dangerous, first], { ...APPROVE, onlySafe: true }).left), ids([dangerous]));
  const plan = buildPlan([item("Why not?"), ...groups.flat(), ...left], APPROVE);
  assert.deepEqual(
    plan.groups.map(({ graph, what, planned }) => [graph, what, ids(planned.map(({ item: one }) => one))]),
    [
      ["shop", "refund", ids(groups[0] ?? [])],
      ["bank", "refund", ids(groups[1] ?? [])],
      ["shop", "mail", ids(groups[2] ?? [])],
      ["shop", "refund", ids(groups[3] ?? [])],
    ],
  );
  assert.deepEqual(ids(plan.left).slice(1), ids(left));
  assert.equal(buildPlan([item("Why?")], APPROVE).planned.length, 0);
});

test("breakpoints before the same node are passed together, without an answer", () => {
  const stop = () => item(null, { kind: "breakpoint", node: "send" });
  const plan = buildPlan([stop(), stop(), item(null, { kind: "breakpoint", node: "plan" })], APPROVE);
  assert.deepEqual(
    plan.groups.map(({ what, planned }) => [what, planned.map(({ resume }) => resume)]),
    [
      ["send", [undefined, undefined]],
      ["plan", [undefined]],
    ],
  );
});

test("a rejection has the message in the terms of each dialect, and leaves out items that do not allow it", () => {
  const agentInbox = item({
    action_request: { action: "refund", args: { amount: 3 } },
    config: { allow_accept: true, allow_respond: true, allow_ignore: false, allow_edit: false },
  });
  const stop = item(null, { kind: "breakpoint", node: "send" });
  const rejected = buildPlan([refund(1), agentInbox, stop, item("Why?")], { type: "reject", message: " Too much " });
  assert.deepEqual(
    rejected.planned.map(({ resume }) => resume),
    [{ decisions: [{ type: "reject", message: "Too much" }] }, [{ type: "response", args: "Too much" }]],
  );
  assert.deepEqual(
    rejected.left.map(({ kind }) => kind),
    ["breakpoint", "tool_approval"],
  );
  const silent = buildPlan([refund(1), agentInbox], { type: "reject", message: "" });
  assert.deepEqual(ids(silent.left), [agentInbox.id], "it accepts a rejection only as a message");
});
