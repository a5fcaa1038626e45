// Forwarding of the audit trail to a file and to an HTTP address, on both storages. Checked:
//   audit-forward-law.1. The receiver gets exactly the lines of the chains, each with its id, in order, and can compute their
//     hashes.
//   audit-forward-law.2. A receiver that is down or answers with an error, and a restart of the server, lose no line, also
//     of more lines than one request has.
//   audit-forward-law.3. Credentials of the address are in a header; secrets of answers are masked.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { auditHash } from "../../packages/server/src/model/audit/audit-chain.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { startServerHere } from "../harness/server-here.ts";
import { type Answer, call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { until } from "../harness/threads.ts";

const CONFIG = join(ROOT, "test", "graphs", "secrets", "langgraph.json");
/** Secrets that no line may have. */
const [KEY, ANSWER] = ["canary-of-a-key-5d0e91", "canary-of-an-answer-8be2"];

interface Line {
  readonly id: string;
  readonly chain: number;
  readonly position: number;
  readonly seq: number;
  readonly digest: string;
  readonly previous: string;
  readonly entry_kind: string;
  readonly action: string;
}

interface Receiver {
  readonly setting: string;
  readonly lines: () => readonly Line[];
  /** Takes lines from now on. */
  readonly open: () => void;
}

const parse = (text: string): readonly Line[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

async function listen(t: TestContext): Promise<Receiver> {
  let [text, isOpen, requests] = ["", false, 0];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { authorization, "content-type": type } = request.headers;
      const isKnown = authorization === `Basic ${btoa("ann:pass word")}` && type === "application/x-ndjson";
      const status = !isOpen || !isKnown ? 503 : ++requests === 2 ? 500 : 204;
      if (status === 204) text += Buffer.concat(chunks).toString();
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    setting: `http://ann:pass%20word@127.0.0.1:${port}/in`,
    lines: () => parse(text),
    open: () => void (isOpen = true),
  };
}

/** Down: the place of the file is a folder that is not there. */
async function file(t: TestContext): Promise<Receiver> {
  const folder = temporaryFolder();
  t.after(() => removeFolder(folder));
  const path = join(folder, "later", "audit.jsonl");
  return {
    setting: path,
    lines: () => (existsSync(path) ? parse(readFileSync(path, "utf8")) : []),
    open: () => mkdirSync(join(folder, "later")),
  };
}

for (const [storage, kind, receive] of [
  ["sqlite", "HTTP", listen],
  ["postgres", "HTTP", listen],
  ["sqlite", "file", file],
] as const)
  test(`${storage} forwards to ${kind} all lines, in order, past a receiver that is down and a restart (audit-forward-law.1, audit-forward-law.2)`, async (t) => {
    const receiver = await receive(t);
    const dataDir = temporaryFolder();
    t.after(() => removeFolder(dataDir));
    const env = {
      HOLDPOINT_AUDIT_FORWARD: receiver.setting,
      HOLDPOINT_API_KEYS: `root:${KEY}`,
      ...(storage === "postgres" ? { DATABASE_URI: await newDatabase() } : {}),
    };
    let server = await startServerHere({ env, dataDir, config: CONFIG });
    const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
      call(server, method, path, body, { "x-api-key": KEY });
    const create = async (): Promise<string> => String((await send("POST", "/threads", {})).body["thread_id"]);
    const deleteOne = async (): Promise<void> =>
      assert.equal((await send("DELETE", `/threads/${await create()}`)).status, 204);
    const thread = await create();
    const schema = { type: "object", properties: { token: { type: "string", format: "password" } } };
    const input = { payload: { question: "Which token?" }, schema };
    const asked = await send("POST", `/threads/${thread}/runs/wait`, { assistant_id: "login", input });
    const [interrupt] = asked.body["__interrupt__"] as readonly { readonly id: string }[];
    const answer = { thread_id: thread, interrupt_id: interrupt?.id, resume: { token: ANSWER } };
    assert.equal((await send("POST", "/inbox/answers", [answer])).status, 200);
    await Promise.all(Array.from({ length: 225 }, deleteOne));
    await server.whenLogged("the receiver is down", (logs) =>
      logs.some(({ event }) => event === "audit_forward_failed"),
    );
    await server.stop();
    receiver.open();
    server = await startServerHere({ env, dataDir, config: CONFIG });
    t.after(() => server.stop());
    await deleteOne();
    const { body } = await send("GET", "/audit/verify");
    const total = Number(body["entries"]) + Number(body["deleted"]);
    assert.equal(total, 229); // and two starts, and the answer
    const lines = await until<readonly Line[]>("the receiver has all lines", async () => {
      const found = receiver.lines();
      return new Set(found.map(({ id }) => id)).size >= total ? found : undefined;
    });
    const heads = String(body["anchor"]).split(",");
    for (const head of heads) {
      const [chain, count, end] = head.split(":");
      const own = lines.filter((line) => line.chain === Number(chain));
      assert.deepEqual(
        own.map(({ id }) => id),
        Array.from({ length: Number(count) }, (_, at) => `${chain}:${at + 1}`),
      );
      let hash = "";
      for (const line of own) {
        assert.equal(line.previous, hash);
        hash = auditHash(hash, line);
      }
      assert.equal(hash, end);
    }
    assert.deepEqual(new Set(lines.map(({ entry_kind: one }) => one)), new Set(["act", "decision"]));
    for (const secret of ["pass word", KEY, ANSWER])
      assert.ok(!`${server.output()}${JSON.stringify(lines)}`.includes(secret), secret);
    assert.match(JSON.stringify(lines), /"token":"\*{8}"/);
  });

test("a destination that is neither path nor address prevents the start (audit-forward-law.3)", async () => {
  await assert.rejects(
    startServerHere({ env: { HOLDPOINT_AUDIT_FORWARD: "ftp://x" } }),
    /HOLDPOINT_AUDIT_FORWARD: is no absolute path and no http\(s\) address/,
  );
});
