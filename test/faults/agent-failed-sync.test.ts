// A commit whose sync fails, by strace, and a kill -9 after the reply. Its frames are complete in the log, so the next
// start would find them. Of the embedded database: PostgreSQL syncs its own log, and a server that gets no answer to a
// COMMIT asks for its outcome (machines-connections.test.ts).
//   agent-failed-sync.1. A write that failed with `storage_unavailable` is absent after the crash; an acknowledged one
//        is present.
//   agent-failed-sync.2. If the server cannot guarantee that, the reply is `commit_unknown`, and all calls get 503
//        until it can.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Bench, FULL, ON_POSTGRES } from "../harness/faults/fault-server.ts";
import { STRACE, straceEnded } from "../harness/faults/strace.ts";

const SKIP = ON_POSTGRES
  ? "the server syncs nothing: machines-connections.test.ts has commits without an answer"
  : !straceRuns() && "strace does not run here";

function straceRuns(): boolean {
  try {
    execFileSync("strace", ["-f", "-o", "/dev/null", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function startUnder(bench: Bench, inject: readonly string[]): Promise<string> {
  const trace = join(bench.folder, "strace.txt");
  const options = ["--seccomp-bpf", "-o", trace, "-e", "trace=fsync,fdatasync", ...inject];
  await bench.start({}, { under: [...STRACE, ...options] });
  return trace;
}

let counted: Promise<number> | null = null;

/** Counted once: every start on an empty folder has the same. */
function syncsOfStart(): Promise<number> {
  return (counted ??= countSyncs());
}

async function countSyncs(): Promise<number> {
  const bench = new Bench();
  try {
    const trace = await startUnder(bench, []);
    await bench.server.kill();
    await straceEnded(trace, bench.server.process.pid);
    const lines = readFileSync(trace, "utf8").split("\n");
    return lines.filter((line) => /sync\(|sync resumed/.test(line) && line.endsWith("= 0")).length;
  } finally {
    await bench.end();
  }
}

interface Answered {
  readonly threadId: string;
  readonly code: string | null;
}

/** Creates threads until one fails, and `more` after it. */
async function threadsUntilRefused(bench: Bench, more: number): Promise<readonly Answered[]> {
  const all: Answered[] = [];
  let left = more;
  while (left >= 0) {
    const threadId = randomUUID();
    const answer = await bench.call("POST", "/threads", { thread_id: threadId });
    const { code } = answer.body as { readonly code?: string };
    all.push({ threadId, code: code ?? null });
    if (answer.status !== 200 || left < more) left--;
    assert.ok(all.length < 100, "a sync fails at some time");
  }
  return all;
}

async function isThere(bench: Bench, threadId: string): Promise<boolean> {
  return (await bench.call("GET", `/threads/${threadId}`)).status === 200;
}

const FAILING = FULL ? [1, 2, 3, 4, 5, 6, 7, 8] : [2];

test(
  "a commit whose sync failed once is void after a crash, as the reply said (agent-failed-sync.1)",
  { skip: SKIP },
  async () => {
    const atStart = await syncsOfStart();
    for (const sync of FAILING) {
      const bench = new Bench();
      try {
        await startUnder(bench, ["-e", `inject=fsync,fdatasync:error=EIO:when=${atStart + sync}`]);
        const all = await threadsUntilRefused(bench, 0);
        await bench.server.kill();
        await bench.startHere();
        assert.equal(all.at(-1)?.code, "storage_unavailable");
        for (const { threadId, code } of all) assert.equal(await isThere(bench, threadId), code === null);
      } finally {
        await bench.end();
      }
    }
  },
);

test(
  "while no sync works, the first commit is unknown and nothing is answered behind it (agent-failed-sync.1, agent-failed-sync.2)",
  { skip: SKIP },
  async () => {
    const atStart = await syncsOfStart();
    const bench = new Bench();
    try {
      await startUnder(bench, ["-e", `inject=fsync,fdatasync:error=EIO:when=${atStart + 3}+`]);
      const all = await threadsUntilRefused(bench, 3);
      const refused = all.filter(({ code }) => code !== null).map(({ code }) => code);
      assert.deepEqual(refused, [
        "commit_unknown",
        "storage_unavailable",
        "storage_unavailable",
        "storage_unavailable",
      ]);
      const read = await bench.call("GET", `/threads/${all[0]?.threadId}`);
      assert.equal(read.status, 503, "it might be there after a crash: nothing is said about it");
      assert.equal((await bench.call("GET", "/ready")).status, 503);
      await bench.server.kill();
      await bench.startHere();
      for (const { threadId, code } of all)
        if (code !== "commit_unknown") assert.equal(await isThere(bench, threadId), code === null);
    } finally {
      await bench.end();
    }
  },
);
