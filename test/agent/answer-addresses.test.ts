// Tests of answer addresses.
// Rules:
//   answer-addresses.1. A GET shows, a POST decides: once, in the name of the person, and only the decision of the address.
//   answer-addresses.2. Addresses go to the receiver that the server names, and to their person; to nobody else.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { startWebhookReceiver } from "../fakes/webhook-receiver.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";

const folder = temporaryFolder();
const receiver = await startWebhookReceiver();
const file = join(folder, "notifications.json");
writeFileSync(file, JSON.stringify({ people: { grace: { groups: ["finance"] }, ada: {} }, rules: [] }));
const config = join(folder, "langgraph.json");
const webhooks = { url: { require_https: false, allowed_networks: ["127.0.0.1"] } };
writeFileSync(config, JSON.stringify({ graphs: {}, webhooks }));
const server = await startServerHere({
  config,
  env: {
    HOLDPOINT_NOTIFICATIONS: file,
    HOLDPOINT_NOTIFY_URL: `${receiver.url}/asked`,
    HOLDPOINT_LINK_SECRET: "a secret for the addresses of the tests",
    HOLDPOINT_API_KEYS: "root:root-key,grace:grace-key:reviewer,vic:vic-key:viewer",
  },
});
after(async () => {
  await server.stop();
  await receiver.close();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

interface Address {
  readonly person: string;
  readonly decision: string;
  readonly url: string;
}

const root = { "x-api-key": "root-key" };
const APPROVAL = { action_requests: [{ name: "refund", args: { amount: 3 } }] };
let asked = 0;

/** Asks, and reads the addresses of the event. */
async function ask(more: object = {}): Promise<{ readonly id: string; readonly addresses: readonly Address[] }> {
  const reply = await call(server, "POST", "/requests", { payload: APPROVAL, ...more }, root);
  assert.equal(reply.status, 201, reply.text);
  const events = await receiver.came("/asked", ++asked);
  const addresses = (events[asked - 1]?.event["answer_addresses"] ?? []) as readonly Address[];
  return { id: (reply.body as { request_id: string }).request_id, addresses };
}

const status = async (id: string): Promise<string> =>
  ((await call(server, "GET", `/requests/${id}?wait=20`, undefined, root)).body as { status: string }).status;

const find = (all: readonly Address[], person: string, decision: string): string =>
  all.find((one) => one.person === person && one.decision === decision)?.url ?? assert.fail(JSON.stringify(all));

test("an address shows its decision to a GET, and a POST gives it, once (answer-addresses.1)", async () => {
  const { id, addresses } = await ask({ assignees: ["group:finance"] });
  assert.deepEqual([...new Set(addresses.map(({ person }) => person))], ["grace"]);
  const reject = find(addresses, "grace", "reject");
  const page = await fetch(reject);
  const text = await page.text();
  assert.deepEqual([page.status, text.includes("Reject"), text.includes(">Approve<")], [200, true, false]);
  assert.equal((await call(server, "GET", `/requests/${id}`, undefined, root)).text.includes('"open"'), true);
  const decided = await fetch(reject, { method: "POST", body: new URLSearchParams({ text: "too much" }) });
  assert.equal(decided.status, 200, await decided.text());
  assert.equal(await status(id), "answered");
  const { items } = (await call(server, "GET", `/threads/${id}/audit`, undefined, root)).body as {
    items: readonly { by: string; action: string; value: unknown }[];
  };
  assert.deepEqual(
    items.map(({ by, action, value }) => [by, action, value]),
    [["grace", "answered", { decisions: [{ type: "reject", message: "too much" }] }]],
  );
  assert.equal((await fetch(reject, { method: "POST" })).status, 410);
  assert.equal((await fetch(find(addresses, "grace", "approve"), { method: "POST" })).status, 410);
});

test("a POST without a form gives the decision; another one is refused (answer-addresses.1)", async () => {
  const { id, addresses } = await ask();
  assert.deepEqual([...new Set(addresses.map(({ person }) => person))], ["grace", "ada"]);
  const approve = find(addresses, "ada", "approve");
  const other = await fetch(approve, { method: "POST", body: new URLSearchParams({ choice: "reject" }) });
  assert.equal(other.status, 422);
  assert.equal((await fetch(`${approve.slice(0, -2)}xx`, { method: "POST" })).status, 404);
  assert.equal((await fetch(approve, { method: "POST" })).status, 200);
  assert.equal(await status(id), "answered");
});

test("the item has the addresses of its caller, and of nobody else (answer-addresses.2)", async () => {
  const { id } = await ask();
  const { interrupt_id: interruptId } = (await call(server, "GET", `/requests/${id}`, undefined, root)).body as {
    interrupt_id: string;
  };
  const read = async (key: string): Promise<readonly Address[] | undefined> =>
    (
      (await call(server, "GET", `/inbox/${id}/${interruptId}`, undefined, { "x-api-key": key })).body as {
        answer_addresses?: readonly Address[];
      }
    ).answer_addresses;
  assert.deepEqual(new Set((await read("grace-key"))?.map(({ person }) => person)), new Set(["grace"]));
  assert.deepEqual([await read("root-key"), await read("vic-key")], [undefined, undefined]);
});

test("a receiver that a call names gets no addresses (answer-addresses.2)", async () => {
  const reply = await call(
    server,
    "POST",
    "/requests",
    { payload: APPROVAL, notify: { url: `${receiver.url}/own` } },
    root,
  );
  assert.equal(reply.status, 201, reply.text);
  const [event] = await receiver.came("/own");
  assert.equal(event?.text.includes("answer_addresses"), false);
});
