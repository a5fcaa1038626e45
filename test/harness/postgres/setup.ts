// Set-up of a whole test run (`node --test --test-global-setup`): one PostgreSQL for all files, unless DATABASE_URI
// names one.
import { startPostgres, type PostgresServer } from "./server.ts";

let server: PostgresServer | null = null;

export async function globalSetup(): Promise<void> {
  if ((process.env["DATABASE_URI"] ?? "") !== "") return;
  server = await startPostgres();
  process.env["HOLDPOINT_TEST_DATABASE_URI"] = server.uri; // the files' processes inherit it
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
}
