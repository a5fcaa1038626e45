// Tests of the group of services: lifecycle.1 (order), lifecycle.2 (rollback), lifecycle.3 (stops all, gathers
// failures), lifecycle.4 (stop during start), lifecycle.5 (concurrent stops are one), lifecycle.6 (a part that hangs).
import assert from "node:assert/strict";
import { test } from "node:test";
import { group, stopping, type Service } from "./lifecycle.ts";

interface Plan {
  readonly failsToStart?: Error;
  readonly failsToStop?: Error;
  readonly startsAfter?: Promise<void>;
  readonly stopsAfter?: Promise<void>;
}

/** A part that records its calls. */
function part(name: string, journal: string[], plan: Plan = {}): Service {
  return {
    name,
    async start() {
      journal.push(`start ${name}`);
      await plan.startsAfter;
      if (plan.failsToStart !== undefined) throw plan.failsToStart;
      journal.push(`started ${name}`);
    },
    async stop() {
      journal.push(`stop ${name}`);
      await plan.stopsAfter;
      if (plan.failsToStop !== undefined) throw plan.failsToStop;
      journal.push(`stopped ${name}`);
    },
  };
}

test("parts start one after the other and stop in reverse (lifecycle.1)", async () => {
  const journal: string[] = [];
  const all = group("all", [part("a", journal), part("b", journal), part("c", journal)]);
  await all.start();
  await all.stop();
  const up = ["start a", "started a", "start b", "started b", "start c", "started c"];
  const down = ["stop c", "stopped c", "stop b", "stopped b", "stop a", "stopped a"];
  assert.deepEqual(journal, up.concat(down));
});

test("after a failed start the earlier parts stop, later ones never start, and the failure is thrown (lifecycle.2)", async () => {
  const journal: string[] = [];
  const failure = new Error("b is broken");
  const all = group("all", [
    part("a", journal, { failsToStop: new Error("a does not stop either") }),
    part("b", journal, { failsToStart: failure }),
    part("c", journal),
  ]);
  await assert.rejects(all.start(), (error) => error === failure);
  await all.stop();
  assert.deepEqual(journal, ["start a", "started a", "start b", "stop a"]);
});

test("every part stops although others fail, and all failures are thrown together (lifecycle.3)", async () => {
  const journal: string[] = [];
  const failures = [new Error("c"), new Error("a")];
  const all = group("all", [
    part("a", journal, { failsToStop: failures[1] as Error }),
    part("b", journal),
    part("c", journal, { failsToStop: failures[0] as Error }),
  ]);
  await all.start();
  await assert.rejects(all.stop(), (error) => {
    assert.ok(error instanceof AggregateError);
    assert.deepEqual(error.errors, failures);
    assert.equal(error.message, "all did not stop cleanly: c; a");
    return true;
  });
  assert.deepEqual(journal.slice(-4), ["stop c", "stop b", "stopped b", "stop a"]);
});

test("stop() during start() waits for the current part, starts no further one, and stops the running ones (lifecycle.4)", async () => {
  const journal: string[] = [];
  const gate = Promise.withResolvers<void>();
  const all = group("all", [part("a", journal), part("b", journal, { startsAfter: gate.promise }), part("c", journal)]);
  const starting = all.start();
  const refused = assert.rejects(starting, /all was stopped while it started/);
  await new Promise(setImmediate);
  const stopping = all.stop();
  await new Promise(setImmediate);
  assert.deepEqual(journal, ["start a", "started a", "start b"]);
  gate.resolve();
  await Promise.all([refused, stopping]);
  assert.deepEqual(journal.slice(3), ["started b", "stop b", "stopped b", "stop a", "stopped a"]);
});

test("stop() while the last part starts stops that part too (lifecycle.4)", async () => {
  const journal: string[] = [];
  const gate = Promise.withResolvers<void>();
  const all = group("all", [part("a", journal, { startsAfter: gate.promise })]);
  const starting = all.start();
  const stopping = all.stop();
  gate.resolve();
  await Promise.all([starting, stopping]);
  assert.deepEqual(journal, ["start a", "started a", "stop a", "stopped a"]);
});

test("concurrent calls of stop() stop each part once, and each waits for the end (lifecycle.5)", async () => {
  const journal: string[] = [];
  const gate = Promise.withResolvers<void>();
  const all = group("all", [part("a", journal, { stopsAfter: gate.promise })]);
  await all.start();
  const ended: string[] = [];
  const first = all.stop().then(() => ended.push("first"));
  const second = all.stop().then(() => ended.push("second"));
  await new Promise(setImmediate);
  assert.deepEqual(ended, []);
  gate.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(journal, ["start a", "started a", "stop a", "stopped a"]);
});

test("stop() before start(), and again after a stop, does nothing; a stopped group starts again", async () => {
  const journal: string[] = [];
  const all = group("all", [part("a", journal)]);
  await all.stop();
  await all.start();
  await all.stop();
  await all.stop();
  await all.start();
  assert.deepEqual(journal, ["start a", "started a", "stop a", "stopped a", "start a", "started a"]);
});

test("a group is a service: groups nest", async () => {
  const journal: string[] = [];
  const inner = group("inner", [part("b", journal), part("c", journal)]);
  const all = group("all", [part("a", journal), inner, part("d", journal)]);
  await all.start();
  await all.stop();
  assert.deepEqual(
    journal.filter((line) => line.startsWith("stop ")),
    ["stop d", "stop c", "stop b", "stop a"],
  );
});

test("a part that hangs is abandoned and named, and the others stop (lifecycle.6)", async () => {
  const journal: string[] = [];
  const hangs = { ...part("b", journal, { stopsAfter: new Promise(() => undefined) }), stopMs: 5 };
  const all = group("all", [part("a", journal), hangs, part("c", journal)]);
  await all.start();
  await assert.rejects(all.stop(), /all did not stop cleanly: b has not stopped within 5 ms/);
  assert.deepEqual(journal.slice(-5), ["stop c", "stopped c", "stop b", "stop a", "stopped a"]);
  assert.deepEqual(stopping(), ["b"]);
});
