// PgBouncer in front of a database of the tests. It has fewer connections than its clients, so that a connection passes
// from one to another between transactions.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { removeFolder, temporaryFolder } from "../server.ts";
import { freePort } from "./free-port.ts";

export interface PgBouncer {
  /** The same database. */
  readonly uri: string;
  stop(): Promise<void>;
}

export async function startPgBouncer(
  to: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<PgBouncer> {
  const target = new URL(to);
  const folder = temporaryFolder();
  const port = await freePort();
  const given = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: "transaction",
    default_pool_size: 3,
    max_client_conn: 500,
    ...settings,
  };
  const lines = Object.entries(given).map(([name, value]) => `${name} = ${value}`);
  const database = `* = host=${target.hostname} port=${target.port} user=${target.username}`;
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, ["[databases]", database, "[pgbouncer]", ...lines, ""].join("\n"));
  const asOther = process.getuid?.() === 0 ? ["-u", "nobody"] : []; // it refuses to run as root
  const child = spawn("pgbouncer", [...asOther, file], { stdio: ["ignore", "ignore", "pipe"] });
  const gone = once(child, "exit");
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      said.push(line);
      if (line.includes("process up")) resolve();
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`PgBouncer ended before it was ready:\n${said.join("\n")}`)));
  });
  const uri = new URL(to);
  uri.port = String(port);
  return {
    uri: uri.href,
    async stop() {
      child.kill("SIGKILL");
      await gone;
      removeFolder(folder);
    },
  };
}
