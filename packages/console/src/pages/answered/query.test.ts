import assert from "node:assert/strict";
import { test } from "node:test";
import { endWords, buildSearch, nameEntry } from "./query.ts";

test("without an action, a search has everything that ends an item", () => {
  assert.match(buildSearch({}, 0)["action"] ?? "", /^answered,.*expired/);
  assert.equal(buildSearch({ action: "expired" }, 0)["action"], "expired");
});

test("a period begins that many days ago; anything else has no start", () => {
  assert.equal(buildSearch({ since: "1" }, 86_400_000)["since"], "1970-01-01T00:00:00.000Z");
  for (const since of ["soon", "-1", undefined]) assert.equal(buildSearch({ since }, 1)["since"], undefined);
});

test("the end of a run that paused differs from one that was cancelled", () => {
  assert.deepEqual(
    [
      endWords("interrupted", "pause"),
      endWords("interrupted", "cancel"),
      endWords("success", "done"),
      endWords(null, null),
    ],
    ["paused again", "cancelled", "success", null],
  );
});

for (const [action, decision, word] of [
  ["answered", "approve", "approved"],
  ["answered", "edit", "edited"],
  ["answered", "reject", "rejected"],
  ["answered", "answer", "answered"],
  ["answered", "mixed", "answered"],
  ["answered_as_fork", "approve", "answered as fork"],
  ["expired", null, "expired"],
] as const)
  test(`an entry ${action} with ${decision} is "${word}"`, () =>
    assert.equal(nameEntry({ action, decision })[0], word));
