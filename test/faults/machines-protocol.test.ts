// Tests of the thread protocol with two server processes on one PostgreSQL.
//   machines-protocol.1. Commands to one process, events at the other: readers of both get equal sequences.
//   machines-protocol.2. The client that sees a question and answers at once, at the other process, succeeds.
//   machines-protocol.3. Of concurrent answers at two processes one value is accepted.
//   machines-protocol.4. A killed process: the page goes on at the other one with attempt 2, the next run ends
//        normally, and the tree is the same.
//   machines-protocol.5. A stopping process resets event streams and closes sockets with 1012.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { FULL } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { PATIENCE } from "../harness/patience.ts";
import {
  closePages,
  isEnd,
  isRunEnd,
  isRoot,
  isRunning,
  openPage,
  type ThreadPage,
} from "../harness/protocol/thread-page.ts";
import type { TestServer } from "../harness/server.ts";
import { type ProtocolEvent, sendCommand } from "../harness/thread-protocol.ts";
import { IS_LONG } from "../harness/long.ts";

const ANSWERS = FULL ? 1000 : IS_LONG ? 5 : 2;
const CALLERS = 20;
/** A thousand answers take minutes on a busy machine. */
const timeout = FULL ? 1_200_000 : PATIENCE.timeout;
const ALL = {
  channels: ["values", "checkpoints", "lifecycle", "input", "messages", "tools", "updates", "tasks", "custom"],
};
const env = { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "1", BG_JOB_MAX_RETRIES: "100" };

const fleet = new Fleet();
const { bench } = fleet;
let [one, other] = [] as unknown as [TestServer, TestServer];
before(async () => {
  one = await fleet.start("all", env);
  other = await fleet.start("all", env);
  fleet.use(other);
});
after(async () => {
  closePages();
  await fleet.end();
});

const page = (server: () => TestServer, threadId: string, filter: object = ALL) =>
  openPage(() => server().url, threadId, filter);
const start = (server: TestServer, threadId: string, graph: string) =>
  sendCommand(server, threadId, "run.start", { assistant_id: graph, input: {} });
const isRequest = ({ method }: ProtocolEvent): boolean => method === "input.requested";

test("a command here, its events there, the same for both readers (machines-protocol.1)", PATIENCE, async () => {
  const threadId = randomUUID();
  const pages = [page(() => one, threadId), page(() => other, threadId)];
  const { result } = await start(one, threadId, "steps");
  for (const reader of pages) await reader.shows("the end", isRunEnd(result["run_id"]));
  assert.deepEqual(pages[0]?.seen, pages[1]?.seen);
  const trees = await Promise.all([one, other].map((server) => sendCommand(server, threadId, "agent.getTree", {})));
  assert.deepEqual(trees[0]?.result, trees[1]?.result);
  closePages();
});

test(`an answer at once, at the other process, ${ANSWERS} times (machines-protocol.2)`, { timeout }, async () => {
  for (let round = 0; round < ANSWERS; round++) {
    const threadId = randomUUID();
    const [here, there] = round % 2 === 0 ? [one, other] : [other, one];
    const reader = page(() => there, threadId, { channels: ["lifecycle", "input"] });
    await start(here, threadId, "ask");
    const asked = reader.seen[await reader.shows("the question", isRequest)];
    const params = { interrupt_id: asked?.data["interrupt_id"], response: round };
    const reply = await sendCommand(there, threadId, "input.respond", params);
    assert.equal(reply.type, "success", JSON.stringify(reply));
    await reader.shows("the end", isRunEnd(reply.result["run_id"]));
    reader.close();
  }
});

test(`${CALLERS} answers at two processes: one counts (machines-protocol.3)`, PATIENCE, async () => {
  const threadId = randomUUID();
  const reader = page(() => one, threadId, { channels: ["lifecycle", "input"] });
  await start(other, threadId, "ask");
  const asked = reader.seen[await reader.shows("the question", isRequest)];
  const replies = await Promise.all(
    Array.from({ length: CALLERS }, (_, at) =>
      sendCommand(at % 2 === 0 ? one : other, threadId, "input.respond", {
        interrupt_id: asked?.data["interrupt_id"],
        response: at,
      }),
    ),
  );
  const accepted = replies.filter(({ type }) => type === "success");
  assert.equal(accepted.length, 1, JSON.stringify(replies));
  for (const reply of replies.filter(({ type }) => type !== "success")) {
    assert.ok(["interrupt_stale", "thread_busy"].includes(String(reply["code"])), JSON.stringify(reply));
    assert.equal((reply["answered"] as { readonly same_value: boolean }).same_value, false);
  }
  await reader.shows("the end", isRunEnd(accepted[0]?.result["run_id"]));
  assert.equal(reader.seen.filter(({ method }) => method === "input.answered").length, 1);
  assert.equal(bench.listEffects(threadId, "answered").length, 1);
  reader.close();
});

interface Struck {
  readonly threadId: string;
  readonly run: unknown;
  readonly pages: readonly ThreadPage[];
}

/** A run that this process executes, blocked in its second node; the first of its two pages is at `home`. */
async function catchInHand(victim: TestServer, home: () => TestServer): Promise<Struck> {
  for (;;) {
    const threadId = randomUUID();
    const pages = [page(home, threadId), page(() => other, threadId)];
    bench.hold(threadId, "two");
    const { result } = await start(victim, threadId, "steps");
    await bench.sees(threadId, "two starts");
    for (const reader of pages) await reader.shows("attempt 1", isRunning);
    if (bench.listEffects(threadId, "two starts")[0]?.pid === victim.process.pid)
      return { threadId, run: result["run_id"], pages };
    bench.release(threadId, "two"); // it had not yet found the queue empty, so another was faster
    for (const reader of pages) await reader.shows("the end", isRunEnd(result["run_id"]));
    closePages();
  }
}

test("the process with the run is killed: the page goes on at the other (machines-protocol.4)", PATIENCE, async () => {
  const victim = await fleet.start("all", env);
  let home = victim;
  const { threadId, run, pages } = await catchInHand(victim, () => home);
  await victim.kill();
  home = other;
  await bench.sees(threadId, "two starts", 2);
  bench.release(threadId, "two");
  for (const reader of pages) await reader.shows("the end", isRunEnd(run));
  const next = await start(other, threadId, "steps");
  for (const reader of pages) {
    await reader.shows("the next end", isRunEnd(next.result["run_id"]));
    assert.deepEqual(
      reader.seen.filter(isRoot).map(({ data, id }) => `${String(data["event"])} ${id.split(":").at(-1)}`),
      ["running 1", "running 2", "completed 2", "running 1", "completed 1"],
    );
    const seqs = reader.seen.map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    );
  }
  assert.deepEqual(pages[0]?.seen, pages[1]?.seen);
  closePages();
});

test("a process that stops sends its readers to the other one (machines-protocol.5)", PATIENCE, async () => {
  const stopping = await fleet.start("all", env);
  const threadId = randomUUID();
  let home = stopping;
  const reader = page(() => home, threadId);
  const socket = new WebSocket(`${stopping.url.replace("http", "ws")}/threads/${threadId}/stream/events`);
  await once(socket, "open");
  const closed = once(socket, "close");
  const { result } = await start(other, threadId, "ask");
  await reader.shows("the pause", isRunEnd(result["run_id"]));
  const connects = reader.connects();
  home = other;
  assert.equal(await stopping.stop(), 0);
  assert.equal(((await closed) as [number])[0], 1012);
  const asked = reader.seen.find(isRequest);
  const params = { interrupt_id: asked?.data["interrupt_id"], response: 1 };
  const reply = await sendCommand(one, threadId, "input.respond", params);
  await reader.shows("the end", isRunEnd(reply.result["run_id"]));
  assert.ok(reader.connects() > connects);
  assert.equal(reader.seen.filter(isEnd).length, 2);
  closePages();
});
