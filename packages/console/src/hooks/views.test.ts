// Tests of saved views: what the storage holds, and how a view gets its place.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readViews, withView, type View } from "./views.ts";

const view = (name: string, search: View["search"] = {}): View => ({ name, path: "/inbox", search });

test("stored views are read, and anything else is dropped", () => {
  const stored = [
    view("Mine", { claim: "me" }),
    { name: "", path: "/inbox" },
    { name: "x", path: "/nowhere" },
    7,
    null,
  ];
  assert.deepEqual(readViews(JSON.stringify(stored)), [view("Mine", { claim: "me" })]);
  assert.deepEqual(readViews(JSON.stringify([{ name: "n", path: "/threads", search: { a: 1, b: "2" } }])), [
    { name: "n", path: "/threads", search: { b: "2" } },
  ]);
  for (const text of [null, "", "{", '{"a":1}', "null"]) assert.deepEqual(readViews(text), []);
});

test("a view of the same name is replaced in its place, and a new one is last", () => {
  const both = [view("a"), view("b")];
  assert.deepEqual(withView(both, view("a", { kind: "form" })), [view("a", { kind: "form" }), view("b")]);
  assert.deepEqual(withView(both, view("c")), [...both, view("c")]);
});

test("a renamed view keeps its place, and replaces another one of its new name", () => {
  assert.deepEqual(withView([view("a"), view("b")], view("c"), "a"), [view("c"), view("b")]);
  assert.deepEqual(withView([view("a"), view("b")], view("b"), "a"), [view("b")]);
});
