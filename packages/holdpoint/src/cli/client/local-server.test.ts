// Tests of the file that names a project's server: local-server.1, local-server.2.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { callable, readLocalServer, writeLocalServer, type LocalServer } from "./local-server.ts";

const server: LocalServer = { pid: process.pid, url: "http://127.0.0.1:2025", tracesUrl: null, collectorUrl: null };

test("a folder names the server that runs on it, and none after its end (local-server.1, local-server.2)", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const data = join(folder, "data");
  assert.equal(readLocalServer(data), null);
  const remove = writeLocalServer(data, server);
  assert.deepEqual(readLocalServer(data), server);
  assert.equal(
    readLocalServer(data, () => false),
    null,
    "its process has ended",
  );
  const other = { ...server, pid: process.pid + 1 };
  const removeOther = writeLocalServer(data, other);
  remove();
  assert.deepEqual(
    readLocalServer(data, () => true),
    other,
  );
  removeOther();
  assert.deepEqual(readdirSync(data), []);
});

test("a file of another shape names no server", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const text of ["", "null", "{}", '{"pid": -1, "url": "http://a"}', '{"pid": 1, "url": "file:///etc"}']) {
    writeFileSync(join(folder, "server.json"), text);
    assert.equal(
      readLocalServer(folder, () => true),
      null,
      text,
    );
  }
});

test("an address that listens everywhere is called on this machine", () => {
  assert.deepEqual(
    ["http://0.0.0.0:2024", "http://[::]:2024/a", "http://10.0.0.1:2024", "http://0.0.0.0.example:1"].map(callable),
    ["http://127.0.0.1:2024", "http://127.0.0.1:2024/a", "http://10.0.0.1:2024", "http://0.0.0.0.example:1"],
  );
});
