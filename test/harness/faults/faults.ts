// Faults: loaded into a server process with `--import`, it kills the process, fails calls, or shifts the clock. The
// product has no hooks for this: the module patches built-ins. It reads the faults from a file, so that a test can arm
// a running server. Points, by example:
//   `before commit: pause`    the transaction that pauses a run is about to be committed (labels: see labelsOf)
//   `after commit: accept`    it has been committed, nothing has been told yet
//   `statement: checkpoints`  a write to that table, inside the transaction
//   `before reply: /join`     the first byte of a reply to a path that ends so is about to leave
//   `after reply: /runs/wait` its last byte was given to the system
//   `node: after answer`      named by the code of a test graph
import { readFileSync, writeSync } from "node:fs";
import { ServerResponse } from "node:http";
import { DatabaseSync, StatementSync } from "node:sqlite";
import type { Fault } from "./fault-server.ts";

/** SQLite's errors in Node: of a full disk, or of a failed write or sync of the file. */
class SqliteFault extends Error {
  readonly code = "ERR_SQLITE_ERROR";
  readonly errcode: number;
  constructor(isFileFault: boolean) {
    super(isFileFault ? "disk I/O error" : "database or disk is full");
    this.errcode = isFileFault ? 10 : 13;
  }
}

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

/** @throws {SqliteFault} when that is the fault; for a kill it does not return. */
function pass(points: ReadonlySet<string>, threads: readonly unknown[] = []): void {
  const fault = readFault();
  if (fault === null || !matches(fault, points, threads)) return;
  seen++;
  const first = fault.nth ?? 1;
  if (seen < first || seen >= first + (fault.times ?? 1)) return;
  writeSync(2, `${JSON.stringify({ event: "fault", point: fault.point, action: fault.action })}\n`);
  if (fault.action === "kill") process.kill(process.pid, "SIGKILL");
  throw new SqliteFault(fault.action === "eio");
}

/** Once for each fault that says so: with a broken disk taking back may fail as well. */
function rollbackFails(): boolean {
  const fault = readFault();
  if (fault?.rollbackToo !== true || rollbackFailed === specification) return false;
  rollbackFailed = specification;
  return true;
}
let rollbackFailed = "";

/** Labels of a transaction, derived from its writes. */
function labelsOf(sql: string, parameters: readonly unknown[]): readonly string[] {
  if (sql.startsWith("INSERT INTO runs")) {
    const answers = parameters.some((parameter) => typeof parameter === "string" && parameter.includes('"answers":'));
    return answers ? ["accept", "accept answer"] : ["accept"];
  }
  if (sql.startsWith("UPDATE runs")) {
    if (parameters.includes("pause")) return ["pause", "finish"];
    if (parameters.includes("done")) return ["end", "finish"];
    if (parameters.includes("failure") || parameters.includes("cancel")) return ["finish"];
    if (parameters.includes("pending")) return ["hand back"];
    return ["claim"];
  }
  if (sql.includes("INTO checkpoints")) return ["checkpoint"];
  if (sql.includes("INTO writes")) {
    const consumes = parameters.some((parameter) => String(parameter).includes('"__resume__"'));
    return consumes ? ["consumed"] : [];
  }
  if (sql.includes("INTO audit")) return parameters.includes("cancelled") ? ["cancel"] : [];
  return sql.startsWith("DELETE FROM threads") ? ["delete"] : [];
}

let labels = new Set<string>();
let bound: unknown[] = [];

function pointsOf(moment: string): ReadonlySet<string> {
  const all = new Set([...labels, "any"]);
  if (labels.has("checkpoint") && !labels.has("finish")) all.add("superstep");
  return new Set([...all].map((label) => `${moment} commit: ${label}`));
}

/** One statement on its way to the database. */
function passStatement<T>(sql: string, parameters: readonly unknown[], execute: () => T): T {
  if (sql === "BEGIN") {
    labels = new Set();
    bound = [];
  }
  for (const label of labelsOf(sql, parameters)) labels.add(label);
  if (/^(INSERT|UPDATE|DELETE)/.test(sql)) {
    bound.push(...parameters);
    const table = /(?:INTO|UPDATE|FROM) (\w+)/.exec(sql)?.[1] ?? "";
    pass(new Set([`statement: ${table}`]), parameters);
  }
  if (sql === "COMMIT") pass(pointsOf("before"), bound);
  if (sql === "ROLLBACK" && rollbackFails()) throw new SqliteFault(true);
  const result = execute();
  if (sql === "COMMIT") pass(pointsOf("after"), bound);
  return result;
}

/** Replaces a built-in method by `around`, which gets the original. */
function wrap<This extends object, Result>(
  prototype: This,
  name: string & keyof This,
  around: (self: This, parameters: readonly unknown[], original: () => Result) => Result,
): void {
  const method = Reflect.get(prototype, name) as (...parameters: unknown[]) => Result;
  const wrapped = function (this: This, ...parameters: unknown[]): Result {
    return around(this, parameters, () => method.apply(this, parameters));
  };
  Reflect.set(prototype, name, wrapped);
}

wrap(DatabaseSync.prototype, "exec", (_database, [sql], execute) => passStatement(String(sql), [], execute));
wrap(StatementSync.prototype, "run", (statement, parameters, execute) =>
  passStatement(statement.sourceSQL, parameters, execute),
);

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
