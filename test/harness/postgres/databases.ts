// PostgreSQL for tests: that of DATABASE_URI, or a server for this test run. `npm test` starts one for all its files
// (setup.ts); a single file starts its own. Each file creates its own databases and drops them at its end.
import { randomBytes } from "node:crypto";
import { after } from "node:test";
import { Client } from "pg";
import { startPostgres, type PostgresServer } from "./server.ts";

/** Test runs of several machines may share a server: process ids are not enough. */
const RUN = `${process.pid}_${randomBytes(4).toString("hex")}`;

let own: Promise<PostgresServer> | null = null;
const made: string[] = [];
const closing: (() => Promise<void>)[] = [];
after(dropAll); // of the whole file

/** Handles to close before the databases are dropped. */
export function beforeDrop(close: () => Promise<void>): void {
  closing.push(close);
}

/** The address of a new, empty database for this test file. */
export async function newDatabase(): Promise<string> {
  const base = await serverUri();
  const name = `test_${RUN}_${made.length}`;
  made.push(name);
  await administer(base, `CREATE DATABASE ${name}`);
  const uri = new URL(base);
  uri.pathname = `/${name}`;
  return uri.href;
}

async function serverUri(): Promise<string> {
  const given = process.env["HOLDPOINT_TEST_DATABASE_URI"] ?? process.env["DATABASE_URI"] ?? "";
  if (given !== "") return given;
  own ??= startPostgres();
  return (await own).uri;
}

async function dropAll(): Promise<void> {
  for (const close of closing.toReversed()) await close();
  if (own !== null) return (await own).stop(); // and everything in it
  if (made.length === 0) return;
  await administer(await serverUri(), ...made.map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
}

async function administer(uri: string, ...commands: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  try {
    for (const command of commands) await client.query(command);
  } finally {
    await client.end();
  }
}
