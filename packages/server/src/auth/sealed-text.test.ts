// Tests of sealed texts (sealed-text.1).
import assert from "node:assert/strict";
import { test } from "node:test";
import { seal, unseal } from "./sealed-text.ts";

test("a text opens with its token only, and not after a change (sealed-text.1)", () => {
  const sealed = seal("an ID token ü", "token");
  assert.equal(unseal(sealed, "token"), "an ID token ü");
  assert.equal(unseal(sealed, "another"), null);
  assert.notEqual(seal("an ID token ü", "token"), sealed, "the same text never looks the same");
  const bytes = Buffer.from(sealed, "base64url");
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(unseal(changed.toString("base64url"), "token"), null, `byte ${at}`);
  }
});

test("a text that was never sealed opens to nothing (sealed-text.1)", () => {
  for (const text of ["", "a.b.c", "x".repeat(500)]) assert.equal(unseal(text, "token"), null);
});
