// A proxy in front of PostgreSQL. It reads the messages that clients send, so that it can cut a connection exactly at a
// COMMIT: before the database has it, after, or on its way. It can also stand still, as a network that swallows everything.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * What becomes of a COMMIT, and of its connection. `before`: the database never gets it. `after`: it has answered, and the
 * answer is kept back. `during`: it gets it, and nobody waits for its answer. `late`: it gets it when deliver() is called.
 * `kept`: it gets it, and the answer is kept back until deliver() cuts the connection.
 */
export type Fate = "pass" | "before" | "after" | "during" | "late" | "kept";

export interface PostgresProxy {
  readonly uri: string;
  /** Asked at each COMMIT. @param text of the whole message: what is stored with the COMMIT, and the COMMIT */
  fateOf: (text: string) => Fate;
  deliver(): void;
  /** How many were cut. */
  readonly cuts: () => number;
  /** Nothing goes through any more, and nobody is told; new connections are taken and get no answer. */
  stall(): void;
  /** Every connection breaks off, and there are no new ones. */
  refuse(): void;
  flow(): void;
  close(): Promise<void>;
}

/** The next COMMIT that stores something has this fate, and no other. */
export function onlyNext(fate: Fate): (text: string) => Fate {
  let met = false;
  return (text) => {
    if (met || !isMarked(text)) return "pass";
    met = true;
    return fate;
  };
}

/** The COMMIT of a transaction that writes; those that only look have no mark (outcome.ts). */
export function isMarked(text: string): boolean {
  return text.startsWith("INSERT INTO holdpoint.commits AS");
}

export async function startPostgresProxy(to: string): Promise<PostgresProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let cuts = 0;
  let [stalled, refusing] = [false, false];
  let late: (() => void)[] = [];
  const server = createServer((near) => {
    if (refusing) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    const messages = createMessages();
    let deaf = false;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      if (stalled) one.pause();
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        if (one === far || !deaf) other.destroy(); // what is deaf goes when the database is through with it
      });
    }
    far.on("data", (bytes: Buffer) => void (deaf || near.write(bytes)));
    near.on("data", (bytes: Buffer) => {
      if (deaf) return;
      for (const { bytes: passing, commit } of messages.take(bytes)) {
        const fate = commit === null ? "pass" : proxy.fateOf(commit);
        if (fate === "pass") {
          far.write(passing);
          continue;
        }
        cuts++;
        deaf = true;
        if (fate !== "after" && fate !== "kept") near.destroy();
        if (fate === "before") far.destroy();
        else if (fate === "late") late.push(() => far.end(passing));
        else if (fate === "kept") {
          far.write(passing);
          late.push(() => far.destroy());
        } else far.end(passing);
        return;
      }
    });
    if (stalled) for (const socket of [near, far]) socket.pause(); // listening has set it going
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const uri = new URL(to);
  uri.port = String((server.address() as AddressInfo).port);
  const proxy: PostgresProxy = {
    uri: uri.href,
    fateOf: () => "pass",
    cuts: () => cuts,
    deliver() {
      for (const act of late) act();
      late = [];
    },
    stall() {
      stalled = true;
      for (const socket of sockets) socket.pause();
    },
    refuse() {
      refusing = true;
      for (const socket of sockets) socket.destroy();
    },
    flow() {
      stalled = refusing = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}

interface Passing {
  /** Whole messages, as they came. */
  readonly bytes: Buffer;
  /** Text of the query, when they are one message that ends with COMMIT. */
  readonly commit: string | null;
}

const QUERY = "Q".charCodeAt(0);
const COMMIT = Buffer.from("COMMIT\0");

/** Cuts what a client sends into messages: the first has only its length in front, all others a letter and their length. */
function createMessages(): { take(bytes: Buffer): Iterable<Passing> } {
  let rest: Buffer = Buffer.alloc(0);
  let letters = 0;
  return {
    *take(bytes) {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      let from = 0;
      let at = 0;
      for (;;) {
        if (all.length < at + letters + 4) break;
        const end = at + letters + all.readUInt32BE(at + letters);
        if (all.length < end) break;
        if (letters === 1 && all[at] === QUERY && all.subarray(end - COMMIT.length, end).equals(COMMIT)) {
          if (from < at) yield { bytes: all.subarray(from, at), commit: null };
          yield { bytes: all.subarray(at, end), commit: all.toString("utf8", at + 5, end - 1) };
          from = end;
        }
        at = end;
        letters = 1;
      }
      if (from < at) yield { bytes: all.subarray(from, at), commit: null };
      rest = all.subarray(at);
    },
  };
}
