// Tests of notices: late lists of readers, and notices that do not wake a worker.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { newDatabase } from "../../../../../../test/harness/postgres/databases.ts";
import { createArrivals } from "../../../../../../test/harness/arrivals.ts";
import type { Notice } from "../../../ports/ports.ts";
import { systemClock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createNotices } from "./notices.ts";

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const ABORT: Notice = { kind: "abort", runId: "r", reason: "cancel" };

async function open(t: TestContext, uri: string, servesCalls: boolean) {
  const notices = createNotices({ uri, servesCalls, isWorker: false, clock: systemClock, log: silent });
  const { list: received, add, when } = createArrivals<string>();
  notices.peers.listen(
    ({ kind }) => add(kind),
    () => add("missed"),
  );
  await notices.start();
  t.after(() => notices.stop());
  return { ...notices, received, when };
}

test("a worker gets notices of runs to cancel, a process with callers also those of ended runs (notices.5)", async (t) => {
  const uri = await newDatabase();
  const [sender, worker, server] = [await open(t, uri, true), await open(t, uri, false), await open(t, uri, true)];
  const ended: Notice = { kind: "ended", runId: "r", threadId: "t", expected: true };
  for (const notice of [ended, { kind: "gone", runId: "r" }, ABORT] as const) sender.peers.notify(notice);
  await worker.when("the last one", (received) => received.includes("abort"));
  await server.when("those of both channels", ({ length }) => length === 3);
  assert.deepEqual(server.received.toSorted(), ["abort", "ended", "gone"]);
  assert.deepEqual([worker.received, sender.received], [["abort"], []]);
});

test("more lines than a notice holds go in several, each to its channel (notices.1, notices.5)", async (t) => {
  const uri = await newDatabase();
  const [sender, worker, server] = [await open(t, uri, true), await open(t, uri, false), await open(t, uri, true)];
  const runId = "r".repeat(90);
  for (let at = 0; at < 300; at++) {
    sender.peers.notify({ kind: "ended", runId: `${runId}${at}`, threadId: "t", expected: true });
    sender.peers.notify({ kind: "abort", runId: `${runId}${at}`, reason: "cancel" });
  }
  await worker.when("all", ({ length }) => length >= 300);
  await server.when("all", ({ length }) => length >= 600);
  assert.deepEqual([worker.received.length, server.received.length], [300, 600]);
});

test("a wake that came before the list of its readers reaches them (notices.2)", async (t) => {
  const uri = await newDatabase();
  const [waker, reading] = [await open(t, uri, true), await open(t, uri, true)];
  waker.wakes.wake("thread"); // of a commit that the reader's first look missed
  await new Promise<void>((resolve) => void reading.wakes.listen("thread", resolve));
});
