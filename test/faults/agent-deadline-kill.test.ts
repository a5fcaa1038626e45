// Tests of a process that dies near the action of a deadline.
// Rules:
//   agent-deadline-kill.1. At any moment, the default answer applies once, or the thread fails once, and the audit
//        trail has it once.
//   agent-deadline-kill.3. An action still missing at the death of the process happens after the restart.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Bench, FULL, ON_POSTGRES, only, type Fault } from "../harness/faults/fault-server.ts";

/** On PostgreSQL each kill takes the end of a lease. */
const ROUNDS = FULL ? (ON_POSTGRES ? 5 : 50) : 1;
const bench = new Bench();
before(() => bench.start());
after(() => bench.end());

interface Case {
  readonly point: string;
  readonly onExpiry: unknown;
  readonly ends: "idle" | "error";
}

const IN_SHORT: ReadonlySet<string> = new Set(["after commit: accept answer", "statement: audit"]);
const CASES: readonly Case[] = [
  { point: "before commit: accept answer", onExpiry: { answer: "late" }, ends: "idle" },
  { point: "after commit: accept answer", onExpiry: { answer: "late" }, ends: "idle" },
  { point: "before commit: consumed", onExpiry: { answer: "late" }, ends: "idle" },
  { point: "before commit: end", onExpiry: { answer: "late" }, ends: "idle" },
  { point: "statement: audit", onExpiry: "fail", ends: "error" },
];

for (const { point, onExpiry, ends } of CASES) {
  const options = { skip: !FULL && !IN_SHORT.has(point) && "long form only" };
  test(
    `killed at "${point}", the deadline is acted on once (${ROUNDS} rounds; agent-deadline-kill.1, agent-deadline-kill.3)`,
    options,
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const thread = await bench.newThread();
        const payload = { expires_in_seconds: 0.1, on_expiry: onExpiry };
        bench.arm({ point, action: "kill", thread } satisfies Fault); // none of them fires before the deadline
        await bench.post(`/threads/${thread}/runs/wait`, { assistant_id: "timed", input: { payload } });
        await bench.restartAfterFault();
        assert.equal(await settledOnce(thread), ends);
        const { body } = await bench.call("GET", `/threads/${thread}/audit`);
        const { items } = body as { readonly items: readonly { readonly action: string; readonly by: string }[] };
        const { action, by } = only(items, JSON.stringify(items));
        assert.deepEqual([action, by], [ends === "idle" ? "answered" : "expired", "deadline"]);
        if (ends === "error") continue;
        assert.equal((await bench.values(thread))["answer"], "late");
        assert.equal((await bench.runs(thread)).length, 2);
      }
    },
  );
}

/** The status of the thread with neither a run nor a pause. */
async function settledOnce(thread: string): Promise<string> {
  for (;;) {
    const status = await bench.settled(thread);
    if (status !== "interrupted") return status;
  }
}
