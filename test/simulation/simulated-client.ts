// Simulated client: connections to a real PostgreSQL whose statements and replies wait in the world for their release.
//   simulated-client.1. The process of a broken connection hears of it at once; a dead process hears nothing more.
//   simulated-client.2. A refusal is PostgreSQL's own, in the transaction of the statement.
//   simulated-client.3. A connection is cut between two statements: PostgreSQL completes what was sent to it, and ends the
//        transaction. What takes place is a decision of the seed, not of the time at which a socket closes.
//   simulated-client.4. The limits of PostgreSQL and of the pool do not apply: they count the time of the machine, and end
//        transactions and connections of a history that a busy machine plays slowly.
import { Client, type ClientConfig, type Connection } from "pg";
import type { Fate, Flight, Item, Process, World } from "./world.ts";

/** Members of `pg`'s statement objects that the client calls. */
interface Packet {
  callback?: (...result: readonly unknown[]) => void;
  submit(connection: Connection): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: unknown, connection: Connection): void;
}

/** Plants a fault: what this gives in place of a text of SQL is what PostgreSQL gets. */
export type Patch = (sql: string) => string;

const REFUSAL = `DO $$ BEGIN RAISE EXCEPTION 'refused by the seed' USING ERRCODE = '00000'; END $$`;
const CODES = ["40P01", "40001"] as const;

/** 0 is none. */
const NO_LIMITS: ClientConfig = {
  idle_in_transaction_session_timeout: 0,
  lock_timeout: 0,
  statement_timeout: 0,
  query_timeout: 0,
};

/** The pool reads these before it waits for a connection. */
const NO_POOL_LIMITS = { connectionTimeoutMillis: 0, idleTimeoutMillis: 0 };

type Query = (...parameters: readonly unknown[]) => unknown;

/** A class of connections for the pool of a process. */
export function simulateClient(world: World, process: Process, patch: Patch): typeof Client {
  return class extends Client {
    constructor(config: ConstructorParameters<typeof Client>[0]) {
      super({ ...(config as ClientConfig), ...NO_LIMITS }); // simulated-client.4
      Object.assign(config as ClientConfig, NO_POOL_LIMITS); // the options of the pool itself
      attach(this, world, process, patch);
    }
  };
}

function attach(client: Client, world: World, process: Process, patch: Patch): void {
  const query = client.query.bind(client) as unknown as Query;
  const end = client.end.bind(client) as (callback?: () => void) => unknown;
  const connect = client.connect.bind(client) as (callback: (...result: readonly unknown[]) => void) => void;
  const { connection } = client as unknown as { readonly connection: Connection };
  const parse = connection.parse.bind(connection);
  connection.parse = (statement, more) => parse({ ...statement, text: patch(statement.text) }, more);
  const wire = new Wire({ client, query, end: () => void end(), connection, world, process });
  Reflect.set(client, "connect", (callback: (...result: readonly unknown[]) => void) => {
    if (process.dead) return;
    world.opening++;
    connect((...result) => {
      world.opening--;
      world.note();
      wire.opened(() => callback(...result));
    });
  });
  let isEnding = false;
  Reflect.set(client, "end", (callback?: () => void) => {
    if (wire.isBroken) return void setImmediate(() => callback?.());
    if (!isEnding && process.links.has(wire)) {
      isEnding = true;
      world.opening++; // its place in the pool becomes free
    }
    return end(callback);
  });
  Reflect.set(client, "query", (first: Packet | string, values?: unknown, callback?: unknown) => {
    if (typeof first !== "string") return wire.send(first);
    if (typeof callback === "function") return query(first, values, callback); // before a history
    return wire.ask(patch(first), values);
  });
  process.links.add(wire);
  client.once("end", () => {
    process.links.delete(wire);
    if (isEnding) world.opening--;
    world.note();
  });
}

interface WirePorts {
  readonly client: Client;
  readonly connection: Connection;
  readonly query: Query;
  readonly end: () => void;
  readonly world: World;
  readonly process: Process;
}

/** A statement of the process, and the three ways in which it ends but for its reply. */
interface Sending {
  submit(): void;
  /** Its connection is lost. */
  fail(): void;
  refuse(error: unknown): void;
}

/** A statement that has no reply so far: waiting for its release, under way, or with a reply that waits. */
interface Open {
  flight: Flight | null;
  losesReply: boolean;
}

interface Held extends Item {
  readonly wire: Wire;
}

class Wire {
  private readonly ports: WirePorts;
  private readonly place: number;
  private readonly open = new Map<Sending, Open>();
  isBroken = false;

  constructor(ports: WirePorts) {
    this.ports = ports;
    this.place = ports.process.opened++;
  }

  send(packet: Packet): void {
    const { query, connection } = this.ports;
    const proxy = hear(packet, {
      succeeded: (deliver) => this.arrive(sending, deliver),
      failed: (deliver) => this.whenEnded(() => this.arrive(sending, deliver)),
    });
    const sending: Sending = {
      submit: () => void query(proxy),
      fail: () => packet.handleError(createLoss(), connection),
      refuse: (error) => packet.handleError(error, connection),
    };
    this.begin(sending);
  }

  ask(sql: string, values: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const submit = (): void => {
        const asked = this.ports.query(sql, values) as Promise<unknown>;
        asked.then(
          (result) => this.arrive(sending, () => resolve(result)),
          (error: unknown) => this.whenEnded(() => this.arrive(sending, () => reject(error))),
        );
      };
      const sending: Sending = { submit, fail: () => reject(createLoss()), refuse: reject };
      this.begin(sending);
    });
  }

  /** The process gets it when the seed says so. */
  opened(deliver: () => void): void {
    if (this.isBroken) this.endUnused();
    else this.offer("connection", false, deliver);
  }

  /** Without a word to the process. PostgreSQL has what was sent, and ends when that is done (simulated-client.3). */
  sever(): void {
    if (this.isBroken) return;
    this.isBroken = true;
    this.ports.world.withdraw((item) => (item as Held).wire === this);
    this.endUnused();
  }

  private endUnused(): void {
    const { world, end } = this.ports;
    if (this.pid <= 0 || [...this.open.values()].some(({ flight }) => flight !== null)) return;
    world.flights.add({ pid: this.pid, isGhost: true, waits: false });
    end();
  }

  private get pid(): number {
    return (this.ports.client as unknown as { readonly processID: number }).processID;
  }

  /** simulated-client.1. */
  private cut(): void {
    const all = [...this.open.keys()];
    this.sever();
    for (const sending of all) sending.fail();
  }

  private begin(sending: Sending): void {
    if (this.ports.process.dead) return;
    if (this.isBroken) return void setImmediate(() => sending.fail());
    this.open.set(sending, { flight: null, losesReply: false });
    this.offer("statement", true, (fate) => this.launch(sending, fate));
  }

  private offer(what: string, isStatement: boolean, release: (fate: Fate) => void): void {
    const { world, process } = this.ports;
    world.offer({ what, of: process, place: this.place, isStatement, release, wire: this } as Held);
  }

  private launch(sending: Sending, fate: Fate): void {
    if (fate === "cut before") return this.cut();
    const flight = { pid: this.pid, isGhost: false, waits: false };
    this.open.set(sending, { flight, losesReply: fate === "cut after" });
    this.ports.world.flights.add(flight);
    if (fate === "refused") this.refuse(sending);
    else sending.submit();
  }

  /** simulated-client.2. */
  private refuse(sending: Sending): void {
    const { query, world } = this.ports;
    const code = CODES[Math.floor(world.random() * CODES.length)] ?? CODES[0];
    const refused = query(REFUSAL.replace("00000", code)) as Promise<unknown>;
    refused.catch((error: unknown) => this.whenEnded(() => this.arrive(sending, () => sending.refuse(error))));
  }

  /** PostgreSQL says why a statement failed before it lets go of the locks of its transaction. */
  private whenEnded(then: () => void): void {
    const { client, connection } = this.ports;
    if ((client as unknown as { readonly readyForQuery: boolean }).readyForQuery) then();
    else connection.once("readyForQuery", then);
  }

  private arrive(sending: Sending, deliver: () => void): void {
    const { world } = this.ports;
    const open = this.open.get(sending);
    if (open?.flight === null || open?.flight === undefined) return;
    world.flights.delete(open.flight);
    open.flight = null;
    world.note();
    if (this.isBroken) return this.endUnused();
    if (open.losesReply) return this.cut();
    this.offer("reply", false, () => {
      this.open.delete(sending);
      deliver();
    });
  }
}

function createLoss(): Error {
  return new Error("Connection terminated unexpectedly");
}

interface Hearer {
  readonly succeeded: (deliver: () => void) => void;
  readonly failed: (deliver: () => void) => void;
}

/** @param hearer called once with the delivery of all that the packet was told */
function hear(packet: Packet, hearer: Hearer): Packet {
  const heard: (() => void)[] = [];
  const end = (arrived: Hearer["failed"], last: () => void): void => {
    proxy.callback?.();
    arrived(() => {
      for (const one of heard) one();
      last();
    });
  };
  const proxy: Packet = {
    submit: (connection) => packet.submit(connection),
    handleRowDescription: (message) => void heard.push(() => packet.handleRowDescription(message)),
    handleDataRow: (message) => void heard.push(() => packet.handleDataRow(message)),
    handleCommandComplete: (message, connection) =>
      void heard.push(() => packet.handleCommandComplete(message, connection)),
    handleReadyForQuery: (connection) => end(hearer.succeeded, () => packet.handleReadyForQuery(connection)),
    handleError: (error, connection) => end(hearer.failed, () => packet.handleError(error, connection)),
  };
  return proxy;
}
