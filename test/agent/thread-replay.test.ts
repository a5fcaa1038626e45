// Tests of replays of the thread protocol over time.
//   thread-replay.1. After compaction, a replay has whole messages without deltas, and no tasks; all other events are
//     unchanged.
//   thread-replay.2. After a restore from a backup, new events are above all that were issued after the backup.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { cpSync } from "node:fs";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { PATIENCE } from "../harness/patience.ts";
import { closePages, isRunEnd, openPage } from "../harness/protocol/thread-page.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { openEvents, type ProtocolEvent, sendCommand } from "../harness/thread-protocol.ts";
import { until } from "../harness/threads.ts";

const ALL = {
  channels: ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"],
};
const limits = { protocolCompactSecs: 0 };

let server: ServerHere = await startServerHere({ limits });
const backup = temporaryFolder();
after(async () => {
  closePages();
  await server.stop();
  for (const folder of [server.dataDir, backup]) removeFolder(folder);
});

const start = (threadId: string, input: object = {}) =>
  sendCommand(server, threadId, "run.start", { assistant_id: "teller", input });
const isRemoved = ({ method, data }: ProtocolEvent): boolean =>
  method === "tasks" || data["event"] === "content-block-delta";

async function readReplay(threadId: string, runId: unknown): Promise<readonly ProtocolEvent[]> {
  const reader = await openEvents(server, threadId, ALL);
  const events = await reader.until(isRunEnd(runId));
  reader.close();
  return events;
}

test("deltas and tasks of an ended run go, and nothing else (thread-replay.1)", PATIENCE, async () => {
  const threadId = randomUUID();
  const page = openPage(() => server.url, threadId, ALL);
  const { result } = await start(threadId);
  await page.shows("the end", isRunEnd(result["run_id"]));
  const small = await until("the compaction", async () => {
    const events = await readReplay(threadId, result["run_id"]);
    return events.some(isRemoved) ? undefined : events;
  });
  assert.deepEqual(
    small,
    page.seen.filter((event) => !isRemoved(event)),
  );
  const block = small.find(({ data }) => data["event"] === "content-block-finish");
  assert.deepEqual({ ...(block?.data["content"] as object), index: 0 }, { type: "text", text: "Hi!", index: 0 });
  page.close();
});

const skip = process.env["HOLDPOINT_TEST_STORAGE"] === "postgres" && "copies the file of the embedded database";
test("new numbers after a restore (thread-replay.2)", { ...PATIENCE, skip }, async () => {
  const threadId = randomUUID();
  const first = await start(threadId);
  await readReplay(threadId, first.result["run_id"]);
  const { dataDir } = server;
  await server.stop();
  cpSync(dataDir, backup, { recursive: true });
  server = await startServerHere({ dataDir, limits });
  const second = await start(threadId);
  const lost = await readReplay(threadId, second.result["run_id"]);
  await server.stop();
  await wait(1000); // the numbers follow the clock, and no restore is as fast as this one
  removeFolder(dataDir);
  cpSync(backup, dataDir, { recursive: true });
  server = await startServerHere({ dataDir, limits });
  const third = await start(threadId);
  const made = await readReplay(threadId, third.result["run_id"]);
  const fresh = made.filter(({ data }) => data["run_id"] === third.result["run_id"]);
  assert.ok(fresh.length >= 2 && (fresh[0]?.seq ?? 0) > (lost.at(-1)?.seq ?? 0));
  assert.ok(third.meta.applied_through_seq < (fresh[0]?.seq ?? 0));
});
