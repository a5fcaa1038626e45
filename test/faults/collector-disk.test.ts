// The spool on a real disk that fails for real: the system calls of a collector watched and made to fail by strace, and
// a disk that is full. Long form only; the same through the file port, on every machine: collector-spool.test.ts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { after, before, describe, test } from "node:test";
import { type FakeBackend, startBackend } from "../fakes/backend.ts";
import { protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { type CollectorProcess, startCollectorProcess } from "../fakes/processes.ts";

const full = process.env["HOLDPOINT_FAULTS"] === "full";

function worksHere(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The reason for a skipped test; false if it runs. */
function skipUnless(what: string, works: () => boolean): string | false {
  if (!full) return "long form only";
  if (works()) return false;
  console.log(`NOT TESTED: ${what} does not work on this machine`);
  return `${what} does not work here`;
}

let dir = "";
let backend: FakeBackend;
let spools = 0;
before(async () => {
  dir = await mkdtemp(`${tmpdir()}/holdpoint-disk-`);
  backend = await startBackend();
});
after(async () => {
  await backend.close();
  await rm(dir, { recursive: true, force: true });
  assert.deepEqual(backend.violations, []);
});

async function send(collector: CollectorProcess, trace: number, text = ""): Promise<Response> {
  const attributes = { "gen_ai.prompt": JSON.stringify({ text: `question ${trace}.0`, more: text }) };
  return fetch(`${collector.url}/v1/traces`, {
    method: "POST",
    body: new Uint8Array(protobufRequest([buildSpan(trace, 0, undefined, { attributes })])),
    headers: { "content-type": "application/x-protobuf", "x-api-key": "k" },
  });
}

async function stopped(collector: CollectorProcess): Promise<void> {
  collector.child.kill("SIGTERM");
  assert.equal(await collector.ended, 0, collector.log());
}

function arrived(): Set<string> {
  return new Set(backend.runs.map((run) => String(run.main["name"])));
}

const NO_STRACE = skipUnless("strace", () => worksHere("strace", ["-f", "-o", "/dev/null", "true"]));

describe("under strace", { skip: NO_STRACE }, () => {
  /** The collector's actions, in order. */
  type Step = "written" | "synced" | "failed" | "200" | "503";

  interface Traced {
    readonly collector: CollectorProcess;
    readonly env: Readonly<Record<string, string>>;
    readonly steps: () => Step[];
  }

  /** Requests run one after the other, and no batch seals before the end: every file action belongs to a request. */
  async function traced(inject: readonly string[]): Promise<Traced> {
    const spool = `${dir}/spool-${spools++}`;
    const log = `${spool}.trace`;
    const env = {
      TRACING_ENDPOINT: backend.url,
      SPOOL_DIR: spool,
      FLUSH_INTERVAL_MS: "60000",
      BATCH_SIZE: "1000",
      UV_THREADPOOL_SIZE: "1", // strace counts the calls of each thread by itself
    };
    const options = [
      "-D",
      "-f",
      "-qq",
      "-y",
      "-s",
      "12",
      "-o",
      log,
      "-e",
      "trace=write,writev,fdatasync,sendto,sendmsg",
    ];
    const faults = inject.length === 0 ? [] : ["-P", `${spool}/0000000001.log`, ...inject];
    const collector = await startCollectorProcess(env, [], ["strace", ...options, ...faults]);
    const steps = (): Step[] =>
      readFileSync(log, "latin1")
        .split("\n")
        .map(parseStep)
        .filter((step) => step !== null);
    const open = new Map<string, string>();
    function parseStep(line: string): Step | null {
      const [pid = ""] = /^\d+/.exec(line) ?? [];
      const call = line.includes("resumed>") ? `${open.get(pid) ?? ""} ${line}` : line;
      open.set(pid, line);
      if (/HTTP\/1\.1 200/.test(line)) return "200"; // at its start: a reader may have it now
      if (/HTTP\/1\.1 503/.test(line)) return "503";
      if (line.includes("<unfinished")) return null;
      if (!/\d{10}\.log>/.test(call)) return null;
      if (call.includes("(INJECTED)")) return "failed";
      return call.includes("fdatasync") ? "synced" : "written";
    }
    return { collector: collector ?? assert.fail(), env, steps };
  }

  test("no acknowledgement leaves before the bytes it is about are written, and then synced", async () => {
    const { collector, steps } = await traced([]);
    for (let trace = 0; trace < 50; trace++) assert.equal((await send(collector, trace)).status, 200);
    collector.child.kill("SIGKILL");
    await collector.ended;
    const seen = steps();
    let [written, synced, acknowledged] = [false, false, 0];
    for (const step of seen) {
      if (step === "written") [written, synced] = [true, false];
      else if (step === "synced") synced = written;
      else if (step === "200") {
        assert.ok(written && synced, seen.join(" "));
        [written, synced] = [false, false];
        acknowledged++;
      }
    }
    assert.equal(acknowledged, 50);
    console.log(`${acknowledged} acknowledgements, each after its write and its sync`);
  });

  /** Which request meets the fault: each is one write and one sync, after one write for the head of the segment. */
  const CASES: readonly (readonly [name: string, inject: string, request: number])[] = [
    ...Array.from(
      { length: 20 },
      (_, n) => [`sync ${n + 1} fails with EIO`, `fdatasync:error=EIO:when=${n + 1}`, n] as const,
    ),
    ["all syncs fail with EIO from the third on", "fdatasync:error=EIO:when=3+", 2],
    ...["ENOSPC", "EDQUOT", "EROFS", "EIO"].map(
      (error) => [`writes fail with ${error} from the fourth on`, `writev,write:error=${error}:when=4+`, 2] as const,
    ),
  ];
  let [refused, injected] = [0, 0];
  for (const [name, inject, request] of CASES)
    test(`${name}: that request is refused, another segment takes over, and nothing acknowledged is lost`, async () => {
      backend.script = () => ({ status: 503 });
      const first = spools * 1000;
      const { collector, env, steps } = await traced(["-e", `inject=${inject}`]);
      const acked = new Set<string>();
      const refusedHere: number[] = [];
      for (let trace = first; trace < first + 25; trace++) {
        const { status, headers } = await send(collector, trace);
        if (status === 200) acked.add(`span ${trace}.0`);
        else {
          assert.equal(status, 503);
          assert.ok(headers.has("retry-after"));
          refusedHere.push(trace - first);
          while ((await fetch(`${collector.url}/ready`)).status !== 200); // it heals by itself
        }
      }
      collector.child.kill("SIGKILL");
      await collector.ended;
      assert.deepEqual(refusedHere, [request]);
      const failed = steps().filter((step) => step === "failed").length;
      assert.ok(failed > 0);
      refused += refusedHere.length;
      injected += failed;
      backend.script = () => ({ status: 202 });
      const next = (await startCollectorProcess({ ...env, FLUSH_INTERVAL_MS: "20" })) ?? assert.fail();
      await backend.when(() => acked.isSubsetOf(arrived()));
      await stopped(next);
    });
  after(() => console.log(`${injected} calls made to fail, ${refused} requests refused, none of them acknowledged`));
});

const NO_TMPFS = skipUnless("a tmpfs of its own", () => {
  const there = `${tmpdir()}/holdpoint-try-${process.pid}`;
  execFileSync("mkdir", [there]);
  const works = worksHere("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", there]);
  if (works) execFileSync("umount", [there]);
  execFileSync("rmdir", [there]);
  return works;
});

test(
  "a disk of 4 MB, a backend outage, 50 MB sent, then kill -9: refusals are 503, and all accepted spans arrive afterwards",
  { skip: NO_TMPFS },
  async () => {
    const disk = `${dir}/disk`;
    execFileSync("mkdir", [disk]);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
    try {
      backend.script = () => ({ status: 503 });
      const env = { TRACING_ENDPOINT: backend.url, SPOOL_DIR: `${disk}/spool`, retryCooldownMs: "50" };
      const collector = (await startCollectorProcess(env)) ?? assert.fail();
      const noise = (): string => Array.from({ length: 4500 }, () => Math.random().toString(36).slice(2)).join("");
      const acked = new Set<string>();
      let refused = 0;
      for (let trace = 900_000; trace < 901_000; trace++) {
        const response = await send(collector, trace, noise());
        if (response.status === 200) acked.add(`span ${trace}.0`);
        else {
          assert.equal(response.status, 503);
          assert.ok(response.headers.has("retry-after"));
          refused++;
        }
      }
      assert.ok(refused > 500 && acked.size > 10, `${acked.size} taken, ${refused} refused`);
      collector.child.kill("SIGKILL"); // data in memory must not help it
      await collector.ended;
      const next = (await startCollectorProcess(env)) ?? assert.fail();
      backend.script = () => ({ status: 202 });
      await backend.when(() => acked.isSubsetOf(arrived()));
      const drained = performance.now();
      while ((await send(next, 999_000)).status !== 200);
      const seconds = ((performance.now() - drained) / 1000).toFixed(1);
      await stopped(next);
      console.log(
        `4 MB disk: ${acked.size} taken and delivered, ${refused} refused, took again ${seconds} s after all had arrived`,
      );
    } finally {
      execFileSync("umount", ["-l", disk]);
    }
  },
);
