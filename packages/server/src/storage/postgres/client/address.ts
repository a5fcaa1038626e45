// Address: where the database is, and what a connection to it needs to know. `pg` reads the rest of the URI.
import type { ClientConfig } from "pg";

export interface DatabaseAddress {
  readonly uri: string;
  /** Address of PostgreSQL itself, where `uri` names a pooler whose connections change with each transaction. */
  readonly directUri?: string | null;
  /** Program and arguments: it prints the password of a new connection. */
  readonly passwordCommand?: string | null;
}

export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
}

export interface AddressConfig extends ClientConfig {
  /** The one of them that takes writes gets the connection. Absent: the host of the URI, as it is. */
  readonly hosts?: readonly DatabaseHost[];
  readonly passwordCommand?: string | null;
}

const PORT = 5432;
const STATEMENT_MS = 30_000;
const UNITS_MS: Readonly<Record<string, number>> = { "": 1, ms: 1, s: 1000, min: 60_000 };

/** Settings of every connection, in the pool and outside. */
export function connectionConfig(address: DatabaseAddress): AddressConfig {
  return {
    ...splitHosts(address.uri),
    passwordCommand: address.passwordCommand ?? null,
    application_name: "holdpoint",
    keepAlive: true,
  };
}

/** For the connections that hold a session: LISTEN, heartbeats, migrations. */
export function directConfig(address: DatabaseAddress): AddressConfig {
  return connectionConfig({ ...address, uri: address.directUri ?? address.uri });
}

/** Longest time of a statement, in milliseconds: that of the URI, or ours. */
export function readStatementMs(uri: string): number {
  const query = new URLSearchParams(uri.slice(uri.indexOf("?") + 1));
  const given = query.get("statement_timeout") ?? /statement_timeout\s*=\s*(\w+)/.exec(query.get("options") ?? "")?.[1];
  const [, digits, unit = ""] = /^(\d+)(\w*)$/.exec(given ?? "") ?? [];
  return digits === undefined ? STATEMENT_MS : Number(digits) * (UNITS_MS[unit] ?? 1);
}

/** `pg` reads one host: the others stand between commas, each with its port. */
function splitHosts(uri: string): Pick<AddressConfig, "connectionString" | "hosts"> {
  const [, head = "", list = "", tail = ""] = /^(\w+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(uri) ?? [];
  const names = list.split(",");
  if (list === "" || (names.length === 1 && !/[?&]target_session_attrs=/.test(tail))) {
    return { connectionString: uri };
  }
  const hosts = names.map((name) => {
    const { hostname, port } = new URL(`postgres://${name}`);
    return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? PORT : Number(port) };
  });
  return { connectionString: `${head}${names[0] ?? ""}${tail}`, hosts };
}
