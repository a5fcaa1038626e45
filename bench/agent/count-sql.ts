// Statement counter: loaded into a server to measure (`--import`). Counts the calls of the database below the server's
// own code, and sends the counts to the parent process when it asks. The figures of CPU come from servers without it.
// Invariants:
//   - The bytes of the write-ahead log come from its index: the frames that each commit added.
//   - A round trip to PostgreSQL is a write that ends with a Sync, or a simple query.
import { existsSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";

export interface SqlCounts {
  /** Calls by text. */
  readonly statements: Readonly<Record<string, number>>;
  readonly commits: number;
  /** Milliseconds in calls of COMMIT: mostly the flush of the disk. */
  readonly commitMs: number;
  readonly walBytes: number;
  readonly roundTrips: number;
}

const counts = { statements: {} as Record<string, number>, commits: 0, commitMs: 0, walBytes: 0, roundTrips: 0 };
const texts = new WeakMap<StatementSync, string>();
const FRAME_HEADER_BYTES = 24;

type Call = (this: unknown, ...parameters: unknown[]) => unknown;

/** Replaces a method by one that gets the original. */
function wrap(
  prototype: object,
  name: string,
  body: (self: object, parameters: unknown[], original: Call) => unknown,
): void {
  const original = Reflect.get(prototype, name) as Call;
  Reflect.set(prototype, name, function (this: object, ...parameters: unknown[]) {
    return body(this, parameters, original);
  });
}

wrap(DatabaseSync.prototype, "prepare", (self, parameters, original) => {
  const statement = original.apply(self, parameters) as StatementSync;
  texts.set(statement, String(parameters[0]));
  return statement;
});
for (const name of ["get", "all", "run"]) {
  wrap(StatementSync.prototype, name, (self, parameters, original) => {
    const sql = texts.get(self as StatementSync) ?? "";
    counts.statements[sql] = (counts.statements[sql] ?? 0) + 1;
    const startedAt = performance.now();
    const result = original.apply(self, parameters);
    if (sql === "COMMIT") noteCommit(performance.now() - startedAt);
    return result;
  });
}

const INDEX = join(process.env["HOLDPOINT_DATA_DIR"] ?? "", "holdpoint.db-shm"); // the server clears its environment
let index: number | null = null;
let newest = { frames: 0, salt: 0 };

/** The file stays open: closing it would release SQLite's locks on it. */
function noteCommit(elapsedMs: number): void {
  counts.commits++;
  counts.commitMs += elapsedMs;
  if (index === null && !existsSync(INDEX)) return;
  index ??= openSync(INDEX, "r");
  const header = Buffer.alloc(48);
  readSync(index, header, 0, 48, 0);
  const now = { frames: header.readUInt32LE(16), salt: header.readUInt32LE(32) };
  const added = now.salt === newest.salt ? now.frames - newest.frames : now.frames;
  const pageSize = header.readUInt16LE(14);
  counts.walBytes += added * (pageSize + FRAME_HEADER_BYTES);
  newest = now;
}

const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

const { Connection } = createRequire(import.meta.url)("pg") as { readonly Connection: { readonly prototype: object } };
wrap(Connection.prototype, "query", (self, parameters, original) => {
  counts.roundTrips++;
  return original.apply(self, parameters);
});
wrap(Socket.prototype, "write", (self, parameters, original) => {
  const [chunk] = parameters;
  if (chunk instanceof Buffer && chunk.subarray(-SYNC.length).equals(SYNC)) counts.roundTrips++;
  return original.apply(self, parameters);
});

process.on("message", () => process.send?.(counts));
process.channel?.unref();
