// Tests of reads beside an answer: the answer arrives after the runs were read and before the open questions are.
//   follow-thread.3, task-runs.3. Nobody sees a cancelled run or task.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TaskState } from "@a2a-js/sdk";
import type { Json } from "@holdpoint/base/json/json.ts";
import { readTask } from "../a2a/task-runs.ts";
import { followThread } from "./follow-thread.ts";
import type { OwnApi } from "./own-api.ts";

const [THREAD, FIRST, SECOND] = ["a", "b", "c"].map((one) => `00000000-0000-7000-8000-00000000000${one}`) as [
  string,
  string,
  string,
];

function buildRun(runId: string, status: string): Json {
  const created = runId === FIRST ? "2026-01-01T00:00:00Z" : "2026-01-01T00:00:01Z";
  const continues = runId === FIRST ? {} : { continues: FIRST };
  const one = { run_id: runId, thread_id: THREAD, assistant_id: "desk", status, created_at: created, ended_by: null };
  return { ...one, metadata: {}, ...continues };
}

/** An API whose paused thread is answered at the first look at its questions. */
function answeredAtFirstLook(): OwnApi {
  let answered = false;
  const call = async (_method: string, path: string): Promise<Json> => {
    if (path.startsWith("/inbox")) {
      answered = true;
      return { items: [] };
    }
    const runs = [...(answered ? [buildRun(SECOND, "success")] : []), buildRun(FIRST, "interrupted")];
    if (path.endsWith("/join")) return { answer: answered };
    if (path.includes("/runs?")) return path.includes("limit=1&") ? runs.slice(0, 1) : runs;
    return runs.find((run) => path.endsWith((run as { readonly run_id: string }).run_id)) ?? assert.fail(path);
  };
  return { call, events: () => assert.fail("no stream"), clock: { after: () => assert.fail("no wait") } };
}

test("a task that is answered between the two reads is completed, not cancelled (task-runs.3)", async () => {
  const task = await readTask(answeredAtFirstLook(), "desk", FIRST);
  assert.deepEqual([task.newest.run_id, task.state], [SECOND, TaskState.TASK_STATE_COMPLETED]);
});

test("a thread that is answered between the two reads is followed to its end (follow-thread.3)", async () => {
  const place = { threadId: THREAD, runId: FIRST };
  const outcome = await followThread(answeredAtFirstLook(), place, new AbortController().signal);
  assert.deepEqual(outcome, { threadId: THREAD, runId: SECOND, kind: "completed", values: { answer: true } });
});
