// kill -9 of the server while pages of the thread protocol are open.
//   protocol-kill.1. A page stays whole over a kill in the middle of a run: attempt 2 is announced, no end comes in
//        between, ids are unique, numbers rise, and the next run ends normally.
//   protocol-kill.2. A question that a page saw before the kill is answered after it, also by a command that is
//        repeated.
//   protocol-kill.3. A replay and the tree of the namespaces are the same before and after a kill.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Bench, FULL } from "../harness/faults/fault-server.ts";
import {
  closePages,
  isEnd,
  isRunEnd,
  isRoot,
  isRunning,
  openPage,
  type ThreadPage,
} from "../harness/protocol/thread-page.ts";
import { type ProtocolEvent, sendCommand, type WireReply } from "../harness/thread-protocol.ts";
import { PATIENCE } from "../harness/patience.ts";

const bench = new Bench();
before(() => bench.start());
after(async () => {
  closePages();
  await bench.end();
});

/** The subscription of the hooks. */
const CONTENT = {
  channels: ["values", "checkpoints", "lifecycle", "input", "messages", "tools"],
  namespaces: [[]],
  depth: 1,
};
const ALL = { channels: [...CONTENT.channels, "updates", "tasks", "custom"] };

const page = (threadId: string, filter: object = ALL): ThreadPage => openPage(() => bench.server.url, threadId, filter);
const start = (threadId: string, graph: string, more: object = {}): Promise<WireReply> =>
  sendCommand(bench.server, threadId, "run.start", { assistant_id: graph, input: {}, ...more });

function assertOrdered(events: readonly ProtocolEvent[]): void {
  const seqs = events.map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    seqs.toSorted((one, other) => one - other),
  );
  assert.equal(new Set(seqs).size, seqs.length);
}

const nameEvent = ({ data, id }: ProtocolEvent): string => `${String(data["event"])} ${id.split(":").at(-1)}`;

for (const point of FULL ? ["one", "two", "three"] : ["two"]) {
  test(`a page stays whole over a kill while ${point} works (protocol-kill.1)`, PATIENCE, async () => {
    const threadId = randomUUID();
    const pages = [page(threadId, CONTENT), page(threadId)];
    bench.hold(threadId, point);
    const { result } = await start(threadId, "steps");
    await bench.sees(threadId, `${point} starts`);
    for (const one of pages) await one.shows("attempt 1", isRunning);
    await bench.killAndRestart();
    await bench.sees(threadId, `${point} starts`, 2);
    bench.release(threadId, point);
    for (const one of pages) await one.shows("the end", isRunEnd(result["run_id"]));
    const next = await start(threadId, "steps");
    for (const one of pages) {
      await one.shows("the end of the next run", isRunEnd(next.result["run_id"]));
      assertOrdered(one.seen);
      const roots = one.seen.filter(isRoot).map(nameEvent);
      assert.deepEqual(roots, ["running 1", "running 2", "completed 2", "running 1", "completed 1"]);
      const log = one.seen.findLast(({ method, namespace }) => method === "values" && namespace.length === 0)?.data;
      assert.deepEqual(log, { log: ["one", "two", "three", "one", "two", "three"] });
      one.close();
    }
  });
}

test("a question is answered after a kill, and the answer counts once (protocol-kill.2)", PATIENCE, async () => {
  const threadId = randomUUID();
  const open = page(threadId);
  await start(threadId, "ask");
  const asked = open.seen[await open.shows("the question", ({ method }) => method === "input.requested")];
  await open.shows("the pause", isEnd);
  await bench.killAndRestart();
  const reloaded = page(threadId);
  await reloaded.shows("the question again", ({ id }) => id === asked?.id);
  const params = { namespace: [], interrupt_id: asked?.data["interrupt_id"], response: "yes" };
  bench.hold(threadId, "ask");
  const { result } = await sendCommand(bench.server, threadId, "input.respond", params);
  await bench.sees(threadId, "answered");
  await bench.killAndRestart();
  const again = await sendCommand(bench.server, threadId, "input.respond", params);
  assert.deepEqual(again.result, result, JSON.stringify(again));
  bench.release(threadId, "ask");
  for (const one of [open, reloaded]) {
    await one.shows("the end", isRunEnd(result["run_id"]));
    const answered = one.seen.filter(({ method }) => method === "input.answered");
    assert.equal(answered.length, 1);
    assertOrdered(one.seen);
    one.close();
  }
  assert.deepEqual(await bench.values(threadId), { log: ["prepared", "yes", "recorded"] });
});

test("a replay and the tree are the same after a kill (protocol-kill.3)", PATIENCE, async () => {
  const threadId = randomUUID();
  const first = page(threadId, { ...ALL, since: 0 });
  const { result } = await start(threadId, "nested");
  await first.shows("the pause", isRunEnd(result["run_id"]));
  first.close();
  const tree = async (): Promise<unknown> =>
    (await sendCommand(bench.server, threadId, "agent.getTree", {})).result["tree"];
  const before = await tree();
  await bench.killAndRestart();
  const second = page(threadId, { ...ALL, since: 0 });
  await second.shows("the pause", isRunEnd(result["run_id"]));
  assert.deepEqual(second.seen, first.seen);
  assert.deepEqual(await tree(), before);
  second.close();
});
