// A proxy in front of PostgreSQL. It parses the messages of clients, so that it can cut a connection exactly at a
// COMMIT: before the database has it, after, or on its way. It can also go silent, like a network that drops all
// packets.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * Fate of a COMMIT and of its connection. `before`: the database never gets it. `after`: the proxy withholds the
 * database's reply. `during`: the database gets it, and the proxy does not wait for the reply. `late`: the database
 * gets it at deliver(). `kept`: the proxy withholds the reply until deliver() cuts the connection. `all`: the reply
 * arrives, then every connection breaks; there are no new ones until flow().
 */
export type Fate = "pass" | "before" | "after" | "during" | "late" | "kept" | "all";

export interface PostgresProxy {
  readonly uri: string;
  /** Called at each COMMIT. @param text of the mark and the COMMIT @param texts of all statements of the transaction */
  decideFate: (text: string, texts: readonly string[]) => Fate;
  /** Notices on this channel do not arrive. */
  loseNotices(channel: string): void;
  deliver(): void;
  /** Number of cut connections. */
  readonly cuts: () => number;
  /** Drops all traffic without an error; accepts new connections and never replies. */
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

/** The COMMIT of a transaction that writes; read-only ones have no mark (commit-outcome.ts). */
export function isMarked(text: string): boolean {
  return text.startsWith("INSERT INTO holdpoint.commits AS");
}

/** Replaces the channel by a name of the same length, which has no listeners. */
function renamed(bytes: Buffer, channel: string): Buffer {
  if (!bytes.includes(channel)) return bytes;
  return Buffer.from(bytes.toString("latin1").replaceAll(channel, "?".repeat(channel.length)), "latin1");
}

export async function startPostgresProxy(to: string): Promise<PostgresProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let cuts = 0;
  let [stalled, refusing] = [false, false];
  let late: (() => void)[] = [];
  let lostChannel: string | null = null;
  /** Earlier writes still arrive. */
  const breakOff = (): void => {
    refusing = true;
    for (const socket of sockets) socket.destroySoon();
  };
  const server = createServer((near) => {
    if (refusing) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    const messages = createMessages();
    let deaf = false;
    let last = false;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      if (stalled) one.pause();
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        if (one === far || !deaf) other.destroy(); // a half-closed connection ends after the database's last reply
      });
    }
    far.on("data", (bytes: Buffer) => {
      if (deaf) return;
      near.write(lostChannel === null ? bytes : renamed(bytes, lostChannel));
      if (!last) return;
      last = false;
      breakOff();
    });
    near.on("data", (bytes: Buffer) => {
      if (deaf) return;
      for (const { bytes: passing, commit, texts } of messages.take(bytes)) {
        const fate = commit === null ? "pass" : proxy.decideFate(commit, texts);
        if (fate === "pass") {
          far.write(passing);
          continue;
        }
        cuts++;
        if (fate === "all") {
          last = true;
          far.write(passing);
          continue;
        }
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
    decideFate: () => "pass",
    cuts: () => cuts,
    loseNotices(channel) {
      lostChannel = channel;
    },
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
  /** The writes that share a message with a COMMIT, and the COMMIT, if the message ends with one. */
  readonly commit: string | null;
  /** Texts of the statements since the BEGIN. */
  readonly texts: readonly string[];
}

const [QUERY, PARSE, BIND, SYNC] = ["Q", "P", "B", "S"].map((letter) => letter.charCodeAt(0));
/** Messages that PostgreSQL answers when a Sync has come: parse, bind, describe, execute, close. */
const BEFORE_A_SYNC = new Set(["P", "B", "D", "E", "C"].map((letter) => letter.charCodeAt(0)));

/**
 * Splits a client's bytes into messages: the first has only a length prefix, all others a letter and a length. Forwards
 * all messages up to a Sync at once.
 */
function createMessages(): { take(bytes: Buffer): Iterable<Passing> } {
  const texts = new Map<string, string>();
  let rest: Buffer = Buffer.alloc(0);
  let letters = 0;
  let transaction: readonly string[] = [];
  return {
    *take(bytes) {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      let asked: string[] = [];
      let from = 0;
      let at = 0;
      for (;;) {
        if (all.length < at + letters + 4) break;
        const end = at + letters + all.readUInt32BE(at + letters);
        if (all.length < end) break;
        const kind = letters === 1 ? all[at] : undefined;
        const strings = (): string[] => all.toString("latin1", at + 5, end).split("\0");
        letters = 1;
        if (kind === PARSE) {
          const [name = "", text = ""] = strings();
          texts.set(name, text.trim());
        } else if (kind === BIND) asked.push(texts.get(strings()[1] ?? "") ?? "");
        else if (kind === QUERY) asked.push(strings()[0]?.trim() ?? "");
        at = end;
        if (kind !== undefined && BEFORE_A_SYNC.has(kind)) continue;
        const isCommit = (kind === SYNC || kind === QUERY) && asked.at(-1) === "COMMIT";
        const begin = asked.findLastIndex((sql) => sql.startsWith("BEGIN"));
        if (begin >= 0) transaction = asked.slice(begin);
        else if (transaction.length > 0) transaction = [...transaction, ...asked];
        const commit = isCommit ? asked.slice(-2).join("; ") : null;
        yield { bytes: all.subarray(from, at), commit, texts: transaction };
        if (isCommit) transaction = [];
        asked = [];
        from = at;
      }
      // The rest waits for its Sync.
      rest = all.subarray(from);
    },
  };
}
