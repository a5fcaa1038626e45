// Database client: a connection of `pg` that chooses among the hosts of its address and asks a program for its password.
// Invariants:
//   - Of several hosts the one that takes writes gets the connection. Each new connection asks all of them at once, so
//     the one after a fail-over finds the new primary; connections that begin together share the question.
//   - A password comes from its program anew for each connection, since it may have expired; connections that begin
//     together share it. What the program prints is in no error.
import { execFile } from "node:child_process";
import { Client, type ClientConfig } from "pg";
import { type AddressConfig, type DatabaseAddress, type DatabaseHost, directConfig } from "./address.ts";
import { formatReason } from "./errors.ts";

/** A host that drops all packets must not use up the time of a connection. */
const PROBE_MS = 2000;
/** Less than the time of a connection, so that its error tells about the program. */
const PASSWORD_MS = 4000;

/** Holds a session. */
export function createDirectClient(address: DatabaseAddress, more: ClientConfig): DatabaseClient {
  return new DatabaseClient({ ...directConfig(address), ...more });
}

export class DatabaseClient extends Client {
  readonly #config: AddressConfig;

  constructor(config: AddressConfig = {}) {
    super(config);
    this.#config = config;
    const { passwordCommand = null } = config;
    if (passwordCommand === null) return;
    // `pg` asks a function for the password, but its types allow one in the configuration only, where the URI wins.
    Object.assign(this, { password: () => share(passwords, passwordCommand, () => askForPassword(passwordCommand)) });
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error | null, client?: Client) => void): void;
  override connect(callback?: (error: Error | null, client?: Client) => void): Promise<Client> | void {
    const opened = this.#open();
    if (callback === undefined) return opened;
    opened.then(
      () => callback(null, this),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
    );
  }

  /** With this host, whatever the URI says. */
  at({ host, port }: DatabaseHost): this {
    return Object.assign(this, { host, port });
  }

  async #open(): Promise<Client> {
    const { hosts } = this.#config;
    if (hosts !== undefined) this.at(await share(searches, hosts, () => findPrimary(this.#config, hosts)));
    try {
      return await super.connect();
    } catch (error) {
      throw explain(error);
    }
  }
}

const passwords = new Map<string, Promise<string>>();
const searches = new Map<readonly DatabaseHost[], Promise<DatabaseHost>>();

/** The work that is under way under this key, or new work. */
function share<Key, T>(under: Map<Key, Promise<T>>, key: Key, work: () => Promise<T>): Promise<T> {
  let shared = under.get(key);
  if (shared === undefined) {
    shared = work().finally(() => under.delete(key));
    under.set(key, shared);
  }
  return shared;
}

async function findPrimary(config: AddressConfig, hosts: readonly DatabaseHost[]): Promise<DatabaseHost> {
  const asked = hosts.map((host) => probe(config, host));
  try {
    return await Promise.any(asked);
  } catch {
    const refusals = await Promise.allSettled(asked);
    const reasons = hosts.map(({ host, port }, at) => {
      const refusal = refusals[at];
      return `${host}:${port} (${refusal?.status === "rejected" ? formatReason(refusal.reason) : ""})`;
    });
    throw new Error(`no connection to a host that takes writes: ${reasons.join(", ")}`);
  }
}

async function probe(config: AddressConfig, host: DatabaseHost): Promise<DatabaseHost> {
  const { hosts: _, ...alone } = config;
  const limits = { connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS };
  const client = new DatabaseClient({ ...alone, ...limits }).at(host);
  client.on("error", () => undefined); // a lost connection fails the question
  try {
    await client.connect();
    const { rows } = await client.query<{ readonly transaction_read_only: string }>("SHOW transaction_read_only");
    if (rows[0]?.transaction_read_only !== "off") throw new Error("takes no writes: a standby, or read-only");
    return host;
  } finally {
    client.end().catch(() => undefined);
  }
}

function askForPassword(command: string): Promise<string> {
  const [program = "", ...args] = command.trim().split(/\s+/);
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void =>
      reject(new Error(`no connection without a password: ${program} of DATABASE_PASSWORD_COMMAND ${reason}`));
    execFile(program, args, { timeout: PASSWORD_MS, killSignal: "SIGKILL" }, (error, stdout) => {
      const password = stdout.replace(/\r?\n$/, "");
      if (error?.killed === true) fail(`took longer than ${PASSWORD_MS} ms`);
      else if (error !== null) fail(`failed (${String(error.code)})`);
      else if (password === "") fail("printed nothing");
      else resolve(password);
    });
  });
}

/** PgBouncer refuses the parameters of a start that it does not know. */
function explain(error: unknown): unknown {
  const reason = formatReason(error);
  if (!/unsupported startup parameter/.test(reason)) return error;
  const remedy =
    "this is a connection pooler; set DATABASE_DIRECT_URI to the address of PostgreSQL itself if it pools transactions, or let it ignore the parameter if it pools sessions";
  return new Error(`${reason}: ${remedy}`, { cause: error });
}
