// Large bodies take turns, and small ones do not wait (body-turns.1, body-turns.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { createBodyTurns, declaredBytes } from "./body-turns.ts";

const MB = 1_000_000;
const isOver = { code: "overloaded" };

test("a body that does not fit waits for the end of another one, or is refused", async () => {
  const enter = createBodyTurns((bytes, isFirst) => isFirst || bytes <= 5 * MB, 0);
  const [first] = await Promise.all([enter(4 * MB), enter(MB)]);
  await assert.rejects(enter(MB), isOver);
  assert.ok(await enter(1000), "a small one never waits");
  first.leave();
  first.leave(); // counts once
  await enter(4 * MB);
  await assert.rejects(enter(MB), isOver);
});

test("a body waits until there is room", async () => {
  let hasRoom = false;
  const waiting = createBodyTurns(() => hasRoom)(MB);
  assert.equal(await Promise.race([waiting, Promise.resolve("waits")]), "waits");
  hasRoom = true;
  (await waiting).leave();
  assert.ok(await createBodyTurns(undefined)(9e9), "nothing waits without a limit");
});

test("a body in chunks counts as the longest", () => {
  assert.equal(declaredBytes({ headers: { "content-length": "7" } }, 5), 5);
  assert.equal(declaredBytes({ headers: { "content-length": "4" } }, 5), 4);
  assert.equal(declaredBytes({ headers: { "transfer-encoding": "chunked" } }, 5), 5);
  assert.equal(declaredBytes({ headers: {} }, 5), 0);
});
