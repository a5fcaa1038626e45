// Pooler: tells a pooler of transactions before anything waits for notices that never come.
import type { Client } from "pg";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import type { DatabaseAddress } from "./address.ts";
import { createDirectClient } from "./database-client.ts";

const LOOKS = 3;
const LOOK_MS = 3000;

/**
 * PostgreSQL gives a connection the id of its process; a pooler gives an id of its own. Where another client's
 * transaction has the process of this one, or this one gets another process meanwhile, transactions are pooled.
 * @param client connected to the direct address
 * @throws {ConfigError} naming the setting
 */
export async function refuseTransactionPooler(client: Client, address: DatabaseAddress): Promise<void> {
  const { processID } = client as Client & { readonly processID?: number | null };
  const process = await readProcess(client);
  if (processID === process || !(await changesProcess(client, process, address))) return;
  const [name, reason] =
    (address.directUri ?? null) === null
      ? [
          "DATABASE_URI",
          "is a pooler of transactions: set DATABASE_DIRECT_URI to the address of PostgreSQL itself, too",
        ]
      : ["DATABASE_DIRECT_URI", "is a pooler of transactions: it has to be the address of PostgreSQL itself"];
  throw new ConfigError([{ name, reason }]);
}

async function changesProcess(client: Client, process: number, address: DatabaseAddress): Promise<boolean> {
  const other = createDirectClient(address, { connectionTimeoutMillis: LOOK_MS, query_timeout: LOOK_MS });
  other.on("error", () => undefined);
  try {
    await other.connect();
    for (let look = 0; look < LOOKS; look++) {
      await other.query("BEGIN");
      if ((await readProcess(other)) === process || (await readProcess(client)) !== process) return true;
      await other.query("COMMIT");
    }
    return false;
  } catch {
    return false; // sessions are pooled, and there is no other one: the next connection says what is missing
  } finally {
    other.end().catch(() => undefined);
  }
}

async function readProcess(client: Client): Promise<number> {
  const { rows } = await client.query<{ readonly pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}
