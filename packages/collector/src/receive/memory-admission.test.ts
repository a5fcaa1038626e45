import assert from "node:assert/strict";
import { test } from "node:test";
import { createAdmission } from "./memory-admission.ts";

test("requests of one key share its room, however many other keys come in between (memory-admission.3)", () => {
  const admission = createAdmission({ bytesMax: 1000, heldBytes: () => 0, countHeldBytes: () => 0 });
  assert.ok(admission.enter("other").grow(100));
  const first = admission.enter("key"); // under way, without a byte so far
  for (let key = 0; key < 3000; key++) admission.enter(`stranger ${key}`).leave();
  const second = admission.enter("key");
  assert.deepEqual([first.grow(400), second.grow(200)], [true, false]);
  first.leave();
  assert.equal(second.grow(200), true);
  assert.equal(admission.transitBytes(), 300);
});
