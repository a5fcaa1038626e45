// Faults: loaded into a server process with `--import`, it kills the process, fails calls, or shifts the clock. The
// product has no hooks for this: the module patches built-ins. It reads the faults from a file, so that a test can arm
// a running server. Points, by example:
//   `before commit: pause`    the transaction that pauses a run is about to be committed (labels: see listLabels)
//   `after commit: accept`    it has been committed, nothing has been told yet
//   `statement: checkpoints`  a write to that table, inside the transaction
//   `before reply: /join`     the first byte of a reply to a path that ends so is about to leave
//   `after reply: /runs/wait` its last byte was given to the system
//   `node: after answer`      named by the code of a test graph
import { readFileSync, writeSync } from "node:fs";
import { ServerResponse } from "node:http";
import type { Fault } from "./fault-server.ts";
import { wrap } from "./wrap.ts";

const FILE = process.env["HOLDPOINT_TEST_FAULT_FILE"] ?? "";
let specification = "";
let seen = 0;

function readFault(): Fault | null {
  let text = "";
  try {
    text = readFileSync(FILE, "utf8");
  } catch {
    return null;
  }
  if (text !== specification) [specification, seen] = [text, 0];
  return text === "" ? null : (JSON.parse(text) as Fault);
}

function matches(fault: Fault, points: ReadonlySet<string>, threads: readonly unknown[]): boolean {
  return points.has(fault.point) && (fault.thread === undefined || threads.includes(fault.thread));
}

/**
 * One passing of points. A fault that kills does not return.
 *
 * @param threads the thread ids that have to do with it
 * @returns the fault that the caller has to inject, if any
 */
function pass(points: ReadonlySet<string>, threads: readonly unknown[] = []): Fault | null {
  const fault = readFault();
  if (fault === null || !matches(fault, points, threads)) return null;
  seen++;
  const first = fault.nth ?? 1;
  if (seen < first || seen >= first + (fault.times ?? 1)) return null;
  writeSync(2, `${JSON.stringify({ event: "fault", point: fault.point, action: fault.action })}\n`);
  if (fault.action === "kill") process.kill(process.pid, "SIGKILL");
  return fault;
}

/** Once for each fault that says so: with a broken disk taking back may fail as well. */
function rollbackFails(): boolean {
  const fault = readFault();
  if (fault?.rollbackToo !== true || rollbackFailed === specification) return false;
  rollbackFailed = specification;
  return true;
}
let rollbackFailed = "";

if ((process.env["DATABASE_URI"] ?? "") === "") (await import("./faults-sqlite.ts")).install({ pass, rollbackFails });
else (await import("./faults-postgres.ts")).install({ pass, rollbackFails });

function replyPoints(moment: string, response: ServerResponse): ReadonlySet<string> {
  const path = response.req.url?.split("?")[0] ?? "";
  const parts = path.split("/");
  return new Set(parts.map((_, at) => `${moment} reply: /${parts.slice(at).join("/")}`));
}

const begun = new WeakSet<ServerResponse>();
for (const verb of ["write", "end"] as const) {
  wrap(ServerResponse.prototype, verb, (response, _parameters, send) => {
    if (!begun.has(response)) {
      begun.add(response);
      pass(replyPoints("before", response));
    }
    const result = send();
    if (verb === "end") pass(replyPoints("after", response));
    return result;
  });
}

/** For the code of test graphs. */
(globalThis as { holdpointTestPoint?: (name: string, thread: unknown) => void }).holdpointTestPoint = (name, thread) =>
  pass(new Set([`node: ${name}`]), [thread]);

const shiftMs = Number(process.env["HOLDPOINT_TEST_CLOCK_SHIFT_MS"] ?? 0);
if (shiftMs !== 0) {
  const RealDate = Date;
  class ShiftedDate extends RealDate {
    constructor(...parameters: unknown[]) {
      if (parameters.length === 0) super(ShiftedDate.now());
      else super(...(parameters as [number]));
    }
    static override now(): number {
      return RealDate.now() + shiftMs;
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor;
}
