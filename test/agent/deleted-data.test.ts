// Tests of what the data folder holds of deleted data. Checked: client/database.3.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { newThread } from "../harness/threads.ts";

/** No word: the search index keeps words of deleted threads until it merges its parts. */
const CANARY = "\u2691\u2690\u2691\u2690\u2691";

function findIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(CANARY))
    .map(({ name }) => name);
}

test("deleted threads and store items are in no file of a stopped server (client/database.3)", PATIENCE, async (t) => {
  const server = await startServerHere({ env: { DATABASE_URI: "" } });
  t.after(() => removeFolder(server.dataDir));
  const words = Array.from({ length: 400 }, (_, at) => `${CANARY}${at}`).join(" ");
  for (const payload of [CANARY, words]) {
    const thread = await newThread(server, "echo");
    await thread.run({ input: { payload: { question: payload } } });
    await thread.resume({ said: payload });
    assert.equal((await call(server, "DELETE", thread.path)).status, 204);
  }
  const item = { namespace: ["a"], key: "k", value: { text: words } };
  assert.equal((await call(server, "PUT", "/store/items", item)).status, 204);
  assert.equal((await call(server, "DELETE", "/store/items", { namespace: ["a"], key: "k" })).status, 204);
  await server.stop();
  assert.deepEqual(findIn(server.dataDir), []);
});
