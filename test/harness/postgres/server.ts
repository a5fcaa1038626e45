// A PostgreSQL server for tests, owned by a keeper (keeper.ts): it ends with the process that started it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface PostgresServer {
  /** URI of a template database. */
  readonly uri: string;
  /** Id of the process that keeps it: an ancestor of all its processes. */
  readonly pid: number;
  /** Ends it at once, as a power cut would. */
  crash(): Promise<void>;
  /** Ends it in order, without waiting for its clients. */
  shutDown(): Promise<void>;
  start(): Promise<void>;
  /** A second server that streams from this one. @returns its URI */
  addStandby(): Promise<string>;
  stop(): Promise<void>;
}

/** @param durable syncs to disk, as in production; otherwise a machine failure loses data */
export async function startPostgres(durable = false): Promise<PostgresServer> {
  const keeper = spawn(process.execPath, [join(import.meta.dirname, "keeper.ts"), ...(durable ? ["--durable"] : [])], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = new Promise<void>((resolve) => keeper.once("exit", () => resolve()));
  const lines = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<Readonly<Record<string, unknown>>> => {
    const line = await lines.next();
    if (line.done === true) throw new Error("PostgreSQL for the tests could not be started: see above");
    return JSON.parse(line.value) as Readonly<Record<string, unknown>>;
  };
  const tell = async (what: string): Promise<string> => {
    keeper.stdin.write(`${what}\n`);
    return String((await answer())["uri"]);
  };
  const uri = String((await answer())["uri"]);
  return {
    uri,
    pid: keeper.pid ?? 0,
    crash: async () => void (await tell("crash")),
    shutDown: async () => void (await tell("shut down")),
    start: async () => void (await tell("start")),
    addStandby: () => tell("add a standby"),
    stop() {
      keeper.stdin.end();
      return gone;
    },
  };
}
