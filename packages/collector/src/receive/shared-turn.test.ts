import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createSharedTurn } from "./shared-turn.ts";

/** A shared turn whose end the test decides, and the names of the requests that went on. */
function open() {
  const callbacks: (() => void)[] = [];
  const turn = createSharedTurn((callback) => callbacks.push(callback));
  const wentOn: string[] = [];
  return {
    wentOn,
    join: (name: string, bytes: number): void => {
      const released = turn.join(bytes);
      if (released === null) wentOn.push(name);
      else void released.then(() => wentOn.push(name));
    },
    /** Ends the turn of the oldest `count` groups only; without it, of all. */
    endTurn: async (count = callbacks.length): Promise<void> => {
      for (const callback of callbacks.splice(0, count)) callback();
      await settled();
    },
    waits: () => callbacks.length,
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

suite("shared turn", () => {
  test("small requests of one turn go on together, in their order, when it ends", async () => {
    const { endTurn, join, waits, wentOn } = open();
    join("first", 100);
    join("second", 32 * 1024);
    join("third", 0);
    await settled();
    assert.deepEqual(wentOn, []);
    assert.equal(waits(), 1, "one callback for all of them");
    await endTurn();
    assert.deepEqual(wentOn, ["first", "second", "third"]);
  });

  test("a large request goes on at once, past the small ones that wait", async () => {
    const { endTurn, join, wentOn } = open();
    join("small", 100);
    join("large", 32 * 1024 + 1);
    await settled();
    assert.deepEqual(wentOn, ["large"]);
    await endTurn();
    assert.deepEqual(wentOn, ["large", "small"]);
  });

  test("a request that fills a group releases it before the turn ends, and the next one opens another", async () => {
    const { endTurn, join, wentOn } = open();
    for (const name of ["a", "b", "c"]) join(name, 30 * 1024);
    join("d", 100);
    await settled();
    assert.deepEqual(wentOn, ["a", "b", "c"]);
    await endTurn();
    assert.deepEqual(wentOn, ["a", "b", "c", "d"]);
  });

  test("the end of a full group's turn leaves the group after it open", async () => {
    const { endTurn, join, waits, wentOn } = open();
    for (const name of ["a", "b", "c"]) join(name, 30 * 1024);
    join("d", 100);
    await endTurn(1);
    join("e", 100);
    assert.equal(waits(), 1, "d and e share one callback");
    assert.deepEqual(wentOn, ["a", "b", "c"]);
    await endTurn();
    assert.deepEqual(wentOn, ["a", "b", "c", "d", "e"]);
  });

  test("by default a group waits until the event loop has read what had arrived", async () => {
    const turn = createSharedTurn();
    let released = false;
    void turn.join(10)?.then(() => (released = true));
    await Promise.resolve();
    assert.equal(released, false);
    await settled();
    assert.equal(released, true);
  });
});
