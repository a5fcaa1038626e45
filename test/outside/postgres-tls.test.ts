// Tests of TLS towards PostgreSQL, with a certificate authority of our own.
//   postgres-tls.1. With sslmode=verify-full and sslrootcert every connection of a server is encrypted.
//   postgres-tls.2. A certificate of another authority, or for another name, is refused at the start; of several hosts,
//        one with a good certificate is used.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "pg";
import { until } from "../harness/faults/fault-server.ts";
import { startPostgres } from "../harness/postgres/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";

const folder = temporaryFolder();
after(() => removeFolder(folder));
const postgres = await startPostgres();
const admin = new Client({ connectionString: postgres.uri });
await admin.connect();
after(async () => {
  await admin.end();
  await postgres.stop();
});
const { port } = new URL(postgres.uri);

const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

for (const name of ["own", "other"]) {
  openssl(
    "req",
    "-x509",
    ...NEW_KEY,
    "-subj",
    `/CN=${name}`,
    "-days",
    "2",
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.crt`,
  );
}
openssl("req", "-new", ...NEW_KEY, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr");
writeFileSync(join(folder, "names"), "subjectAltName = DNS:localhost");
const signing = ["-CA", "own.crt", "-CAkey", "own.key", "-CAcreateserial", "-extfile", "names", "-days", "2"];
openssl("x509", "-req", "-in", "server.csr", "-out", "server.crt", ...signing);

/** PostgreSQL reads a key that belongs to its user alone, from its own folder. */
async function switchOn(): Promise<void> {
  const { rows } = await admin.query<{ readonly data_directory: string }>("SHOW data_directory");
  const data = rows[0]?.data_directory ?? "";
  const { uid, gid } = statSync(data);
  for (const name of ["server.key", "server.crt"]) {
    copyFileSync(join(folder, name), join(data, name));
    chmodSync(join(data, name), 0o600);
    chownSync(join(data, name), uid, gid);
  }
  await admin.query("ALTER SYSTEM SET ssl = on");
  await admin.query("SELECT pg_reload_conf()");
}
await switchOn();

const formatUri = (hosts: string, authority: string | null): string =>
  `postgres://holdpoint@${hosts}/postgres?sslmode=verify-full${authority === null ? "" : `&sslrootcert=${join(folder, authority)}`}`;
const start = (uri: string) => startServerHere({ dataDir: join(folder, "none"), env: { DATABASE_URI: uri } });

for (const hosts of [`localhost:${port}`, `127.0.0.1:${port},localhost:${port}`]) {
  test(`${hosts.replaceAll(`:${port}`, "")}: every connection of a server is encrypted (postgres-tls.1)`, async (t) => {
    const server = await start(formatUri(hosts, "own.crt"));
    t.after(() => server.stop());
    const read = async () =>
      (
        await admin.query<{ readonly name: string; readonly ssl: boolean }>(
          `SELECT application_name AS name, ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
            WHERE application_name LIKE 'holdpoint%'`,
        )
      ).rows;
    await until("the heartbeat is connected", async () =>
      (await read()).some(({ name }) => name === "holdpoint heartbeat"),
    );
    const rows = await read();
    assert.ok(rows.length >= 3, JSON.stringify(rows)); // pool, notices, heartbeat
    assert.ok(
      rows.every(({ ssl }) => ssl),
      JSON.stringify(rows),
    );
  });
}

const REFUSALS: readonly (readonly [what: string, uri: string, reason: RegExp])[] = [
  ["a certificate of another authority", formatUri(`localhost:${port}`, "other.crt"), /certificate/],
  ["a certificate of an unknown authority", formatUri(`localhost:${port}`, null), /certificate/],
  ["a certificate for another name", formatUri(`127.0.0.1:${port}`, "own.crt"), /altnames/],
];

for (const [what, uri, reason] of REFUSALS) {
  test(`${what} is refused at the start (postgres-tls.2)`, async () => {
    await assert.rejects(start(uri), (error: Error) => {
      assert.match(error.message, /PostgreSQL at \S+ cannot be used: /);
      assert.match(error.message, reason);
      return true;
    });
  });
}
