// Tests of DATABASE_URI: invalid addresses are reported by name, without the password; those of node-postgres are kept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError, readConfig } from "./config.ts";
import { databaseUri } from "./shared-settings.ts";

const table = { uri: databaseUri("DATABASE_URI", ["DATABASE_URL"], "The database.") };
const read = (value: string) => readConfig({ DATABASE_URL: value }, table, () => "").uri;

test("an address of another kind, or none, is reported by the variable's name and without the password", () => {
  for (const value of [
    "mysql://u:s3cr3t@host/db",
    "postgres://u:s3cr3t@a,,b/db",
    "postgres://u:s3cr3t@a,b:x/db",
    "postgres://u:s3cr3t@[bad/db",
    "s3cr3t",
    "u:s3cr3t@host/db",
  ]) {
    assert.throws(() => read(value), {
      name: ConfigError.name,
      message: "DATABASE_URL: is not of the form postgres://user:password@host:5432/database (not shown)",
    });
  }
});

test("addresses that node-postgres reads are kept as they are", () => {
  const hosts = [
    "postgres://u:p@a:1,b:2,[::1]:3/db?target_session_attrs=read-write",
    "postgres://a,b/db",
    "postgres://u:p@host:5433/db?sslmode=require",
    "postgresql://host/db",
    "POSTGRES://h/db",
  ];
  const sockets = [
    "postgres:///db?host=/run/pg",
    "postgres://u:p@/db?host=/run/pg",
    "/run/pg db",
    "socket:/run/pg?db=d",
  ];
  for (const value of [...hosts, ...sockets, "postgres://u:a b@host/db"]) assert.equal(read(value), value);
});

test("several hosts are for writing: other targets are named", () => {
  for (const target of ["any", "standby", "prefer-standby", "read-only"]) {
    assert.throws(() => read(`postgres://u:s3cr3t@a,b/db?target_session_attrs=${target}`), {
      message: "DATABASE_URL: target_session_attrs is not read-write or primary: the server has to write",
    });
  }
});
