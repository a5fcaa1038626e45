// The clients of /requests on a real server: people answer with the command line, and the program gets what they decided.
// Kills are in test/outside/request-programs.test.ts, lost connections beside the client.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  approve,
  ask,
  type PersonRequest,
  RejectedError,
  RequestEndedError,
  RequestRefusedError,
} from "../../packages/holdpoint/src/exports/requests.ts";
import { holdpoint, verb } from "../harness/cli.ts";
import { readEvents } from "../harness/events.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";

const server = await startServerHere();
const { url } = server;
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

/** A verb of the inbox on the item of a question. */
async function work(request: PersonRequest, name: string, ...args: readonly string[]): Promise<number | null> {
  return (await verb(["inbox", name, String(request["interrupt_id"]), "--by", "ann", "--url", url, ...args])).code;
}

test("an answer outside the choices is refused, and the question stays open for another", async () => {
  const codes: (number | null)[] = [];
  const answer = await ask("Deploy?", {
    url,
    choices: ["yes", "no"],
    onOpen: (request) =>
      void work(request, "answer", "--text", "perhaps").then(async (code) =>
        codes.push(code, await work(request, "answer", "--text", "no")),
      ),
  });
  assert.equal(answer, "no");
  assert.equal(codes[0], 1);
});

const DECISIONS: readonly (readonly [name: string, args: readonly string[], result: string])[] = [
  ["approve", [], "refunded 7"],
  ["edit", ["--set", "amount=5"], "refunded 5"],
];
for (const [name, args, result] of DECISIONS)
  test(`a function runs after inbox ${name}`, async () => {
    const refund = approve(({ amount }: { readonly amount: number }) => `refunded ${amount}`, {
      url,
      name: "refund",
      argsSchema: { type: "object", properties: { amount: { type: "number", maximum: 10 } }, required: ["amount"] },
      onOpen: (request) => void work(request, name, ...args),
    });
    assert.equal(await refund({ amount: 7 }), result);
  });

test("a function does not run after inbox reject", async () => {
  const drop = approve(() => assert.fail("it ran"), {
    url,
    name: "drop",
    editable: false,
    onOpen: (request) => void work(request, "reject", "--message", "not today"),
  });
  await assert.rejects(drop({}), (error) => error instanceof RejectedError && error.message === "not today");
});

test("a cancelled question, and one whose time is over, have no answer", async () => {
  const cancel = ({ request_id: id }: PersonRequest): void =>
    void call(server, "POST", `/requests/${id}/cancel`, { reason: "too late" });
  const ended = (status: string) => (error: unknown) =>
    error instanceof RequestEndedError && error.request.status === status;
  await assert.rejects(ask("Deploy?", { url, onOpen: cancel }), ended("cancelled"));
  await assert.rejects(ask("Deploy?", { url, timeout: 1 }), ended("expired"));
  assert.equal(await ask("Deploy?", { url, timeout: 1, onTimeout: "later" }), "later");
});

test("the same key finds the answer, and another question under it is refused", async () => {
  const onOpen = (request: PersonRequest): void => void work(request, "answer", "--text", "yes");
  const options = { url, key: "deploy-1.4" };
  assert.equal(await ask("Deploy?", { ...options, onOpen }), "yes");
  assert.equal(await ask("Deploy?", options), "yes");
  const refused = (error: unknown): boolean =>
    error instanceof RequestRefusedError && error.code === "request_key_reused";
  await assert.rejects(ask("Delete?", options), refused);
});

test("holdpoint ask and approve wait for the decision of a person", async () => {
  const env = { HOLDPOINT_URL: url };
  const expired = await verb(["ask", "Deploy?", "--choice", "yes", "--timeout", "1s"], { env });
  assert.deepEqual([expired.code, expired.out], [3, ""], expired.err);
  const events = await readEvents(server, "/inbox/events");
  const command = holdpoint(["approve", "--", "echo", "hello"], { env });
  let open: PersonRequest | undefined;
  while (open === undefined) {
    await events.next();
    const { body } = await call(server, "POST", "/requests/search", { status: "open" });
    [open] = (body as { readonly items: readonly PersonRequest[] }).items;
  }
  events.leave();
  assert.equal(await work(open, "approve"), 0);
  const { code, out, err } = await command;
  assert.deepEqual([code, out], [0, "hello\n"], err);
  assert.match(err, /^approved by ann$/m);
});
