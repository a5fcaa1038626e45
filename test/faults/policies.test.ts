// Policies and kill -9: a question that fits is answered exactly once, whenever the server dies.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readAudit } from "../harness/inbox.ts";
import { IS_LONG } from "../harness/long.ts";
import { call, removeFolder, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";

const dataDir = temporaryFolder();
let server: TestServer = await startServer({ dataDir });
after(async () => {
  await server.stop();
  removeFolder(dataDir);
});

const KILLS = IS_LONG ? 4 : 1;
const AT_ONCE = IS_LONG ? 40 : 20;

/** Null if the server died meanwhile. */
async function request(key: string): Promise<string | null> {
  const body = { payload: "Deploy?", metadata: { service: "shop" } };
  const reply = await call(server, "POST", "/requests", body, { "idempotency-key": key }).catch(() => null);
  return reply === null || reply.status >= 500 ? null : String(reply.body["request_id"]);
}

test("each request is answered by the policy once, through kills of the server", async () => {
  const rule = { when: { "metadata.service": "shop" }, answer: { value: "yes" } };
  assert.equal((await call(server, "POST", "/policies", rule)).status, 201);
  const keys: string[] = [];
  for (let round = 0; round < KILLS; round++) {
    const own = Array.from({ length: AT_ONCE }, (_, at) => `${round} ${at}`);
    keys.push(...own);
    const asked = Promise.all(own.map(request));
    const isAnswer = ({ event }: Readonly<Record<string, unknown>>): boolean => event === "policy_answered";
    await server.whenLogged("answers of the policy", (logs) => logs.filter(isAnswer).length >= 3 + round * 7);
    await server.kill();
    await asked;
    server = await startServer({ dataDir });
  }
  for (const key of keys) {
    const id = await request(key);
    assert.ok(id !== null, key);
    const { body } = await call(server, "GET", `/requests/${id}?wait=60`);
    assert.deepEqual([body["status"], body["answer"]], ["answered", "yes"], key);
    const answers = (await readAudit(server, id)).filter(({ action }) => action === "answered");
    assert.deepEqual(
      answers.map(({ via }) => via),
      ["policy"],
      key,
    );
  }
  const verified = await call(server, "GET", "/audit/verify");
  assert.equal(verified.body["intact"], true, verified.text);
});
