// People and keys that lose their right to answer, on a server with sign-in, keys, e-mails and links. Checked:
//   lost-people.1. A vote counts while its person or key may answer, and not after.
//   lost-people.2. A link of a removed person, or of one without the role or outside its limits, is 403 and shows nothing.
//   lost-people.3. A person and a key never share a name.
//   lost-people.4. A link stays used, also where the mark is old and other marks came after it.
//   lost-people.5. No reply to a signed-in person may be stored.
//   lost-people.6. A read that waits ends with the key of its caller, also before its reply has begun.
//   lost-people.8. A stream ends when its thread leaves the limits of its caller.
//   lost-people.7. A key limited to some assistants runs no other one, whatever state it writes.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, test } from "node:test";
import { writeToken } from "@holdpoint/notify/links/link-token.ts";
import { startMailbox } from "../fakes/mailbox.ts";
import { newBrowser, startOpenIdProvider, type Browser } from "../harness/sign-in/openid-provider.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder, type Answer } from "../harness/server.ts";
import { readProblem } from "../harness/threads.ts";

const ADMIN = "the-long-key-of-the-admin";
const SECRET = "a secret for the links of these tests";
const ROLES = JSON.stringify([
  { group: "finance", role: "reviewer" },
  { group: "board", role: "reviewer" },
  { group: "eu", role: "reviewer", metadata: { region: "eu" } },
]);

const mailbox = await startMailbox();
const provider = await startOpenIdProvider();
const folder = temporaryFolder();
const rules = join(folder, "notifications.json");
writeFileSync(
  rules,
  JSON.stringify({
    email: { from: "holdpoint@example.com", links: "1d" },
    rules: [{ name: "never", graphs: ["no such graph"], email: ["nobody@example.com"] }],
  }),
);
const KEYS = { HOLDPOINT_API_KEYS: `root:${ADMIN}` };
let server: ServerHere;
let keyed: ServerHere;
before(async () => {
  const notify = { HOLDPOINT_NOTIFICATIONS: rules, SMTP_URL: mailbox.url, HOLDPOINT_LINK_SECRET: SECRET };
  server = await startServerHere({ env: { ...KEYS, ...provider.env, ...notify, HOLDPOINT_ROLES: ROLES } });
  provider.allow(server.url);
  keyed = await startServerHere({ env: KEYS });
});
after(async () => {
  for (const one of [server, keyed]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
  await provider.stop();
  await mailbox.close();
  removeFolder(folder);
});

const send = (on: ServerHere, method: string, path: string, body?: unknown, key = ADMIN): Promise<Answer> =>
  call(on, method, path, body, { "x-api-key": key });

async function signIn(name: string, groups: readonly string[] = ["finance"]): Promise<Browser> {
  provider.accounts.set(name, { email: `${name}@example.com`, email_verified: true, groups });
  const browser = newBrowser();
  await browser.signIn(server.url, name);
  return browser;
}

interface Asked {
  readonly thread_id: string;
  readonly interrupt_id: string;
}

async function ask(on: ServerHere, payload: object): Promise<Asked> {
  const { body: thread } = await send(on, "POST", "/threads", {});
  const threadId = String(thread["thread_id"]);
  const run = { assistant_id: "echo", input: { payload } };
  const { body, text } = await send(on, "POST", `/threads/${threadId}/runs/wait`, run);
  const [interrupt] = (body["__interrupt__"] ?? []) as readonly { readonly id: string }[];
  assert.ok(interrupt !== undefined, text);
  return { thread_id: threadId, interrupt_id: interrupt.id };
}

const TWO_OF_FINANCE = { question: "Pay?", review_rules: { approvals: 2, assignees: ["group:finance"] } };
const TWO = { question: "Pay?", review_rules: { approvals: 2 } };
const statusIn = (text: string): string => /"status":"(\w+)"/.exec(text)?.[1] ?? text;

async function voteAs(browser: Browser, asked: Asked): Promise<string> {
  const { text } = await browser.visit(`${server.url}/inbox/answers`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify([{ ...asked, resume: "yes" }]),
  });
  return statusIn(text);
}

async function newKey(on: ServerHere, more: object): Promise<{ readonly id: string; readonly key: string }> {
  const { body, text } = await send(on, "POST", "/keys", { role: "reviewer", ...more });
  assert.ok(typeof body["key"] === "string", text);
  return { id: String(body["key_id"]), key: body["key"] };
}

const voteWith = async (on: ServerHere, key: string, asked: Asked): Promise<string> =>
  statusIn((await send(on, "POST", "/inbox/answers", [{ ...asked, resume: "yes" }], key)).text);

const removePerson = (name: string) => send(server, "DELETE", `/people/${name}%40example.com`);

suite("votes (lost-people.1)", () => {
  const LOSSES: readonly (readonly [how: string, lose: (name: string) => Promise<unknown>])[] = [
    ["was removed", removePerson],
    ["signed in with other groups", (name) => signIn(name, ["guests"])],
    ["left the group that is asked", (name) => signIn(name, ["board"])],
  ];
  for (const [at, [how, lose]] of LOSSES.entries()) {
    test(`the vote of a person who ${how} does not count`, async () => {
      const asked = await ask(server, TWO_OF_FINANCE);
      const name = `voter${at}`;
      assert.equal(await voteAs(await signIn(name), asked), "pending");
      await lose(name);
      assert.equal(await voteAs(await signIn("other"), asked), "pending", "one vote of two");
      assert.equal(await voteAs(await signIn("third"), asked), "answered");
    });
  }

  for (const [where, on] of [
    ["with sign-in", () => server],
    ["with keys alone", () => keyed],
  ] as const) {
    test(`the vote of a revoked key does not count, ${where}`, async () => {
      const asked = await ask(on(), TWO);
      const { id, key } = await newKey(on(), { name: "robot" });
      assert.equal(await voteWith(on(), key, asked), "pending");
      assert.equal((await send(on(), "DELETE", `/keys/${id}`)).status, 204);
      assert.equal(await voteWith(on(), (await newKey(on(), { name: "second" })).key, asked), "pending");
      assert.equal(await voteWith(on(), ADMIN, asked), "answered");
    });
  }
});

/** Whoever has the name now reaches other threads only. */
async function narrow(id: string, name: string, role: string): Promise<void> {
  await newKey(keyed, { name, role, metadata: { region: "eu" } });
  assert.equal((await send(keyed, "DELETE", `/keys/${id}`)).status, 204);
}

test("the vote of a key that was limited to other threads does not count (lost-people.1)", async () => {
  const asked = await ask(keyed, TWO);
  const { id, key } = await newKey(keyed, { name: "wide" });
  assert.equal(await voteWith(keyed, key, asked), "pending");
  await narrow(id, "wide", "reviewer");
  assert.equal(await voteWith(keyed, ADMIN, asked), "pending");
});

test("the policy of a key answers while its name reaches the thread (lost-people.1)", async () => {
  const { id, key } = await newKey(keyed, { name: "writer", role: "operator" });
  const rule = { when: { "payload.question": { eq: "Policy?" } }, answer: { value: "yes" } };
  const written = await send(keyed, "POST", "/policies", rule, key);
  assert.equal(written.status, 201, written.text);
  const readChannels = async (): Promise<unknown> => {
    const { body: thread } = await send(keyed, "POST", "/threads", {});
    const path = `/threads/${String(thread["thread_id"])}`;
    const run = { assistant_id: "echo", input: { payload: { question: "Policy?" } } };
    const { body } = await send(keyed, "POST", `${path}/runs`, run);
    await send(keyed, "GET", `${path}/runs/${String(body["run_id"])}/join`);
    const { body: trail } = await send(keyed, "GET", `${path}/audit`);
    return (trail["items"] as readonly { readonly via?: string }[]).map(({ via }) => via);
  };
  assert.deepEqual(await readChannels(), ["policy"]);
  await narrow(id, "writer", "operator");
  assert.deepEqual(await readChannels(), []);
});

test("the vote of a revoked key at a breakpoint does not count, nor does any in a copy (lost-people.1)", async () => {
  const { body: assistant } = await send(keyed, "POST", "/assistants", {
    graph_id: "compiled_breakpoints",
    metadata: { interrupt_review: { approvals: 2 } },
  });
  const { body: thread } = await send(keyed, "POST", "/threads", {});
  const path = `/threads/${String(thread["thread_id"])}`;
  const run = { assistant_id: assistant["assistant_id"], input: { visited: [] } };
  assert.equal((await send(keyed, "POST", `${path}/runs/wait`, run)).status, 200);
  const goOn = async (on: string, name: string): Promise<readonly [string, () => Promise<Answer>]> => {
    const { id, key } = await newKey(keyed, { name, role: "operator" });
    const { body } = await send(keyed, "POST", `${on}/runs/wait`, { ...run, input: null }, key);
    return [String(body["code"] ?? "went on"), () => send(keyed, "DELETE", `/keys/${id}`)];
  };
  const [first, revoke] = await goOn(path, "pilot");
  const { body: copy } = await send(keyed, "POST", `${path}/copy`, {});
  await revoke();
  assert.deepEqual([first, (await goOn(path, "navigator"))[0]], ["approvals_pending", "approvals_pending"]);
  assert.equal((await goOn(`/threads/${String(copy["thread_id"])}`, "navigator"))[0], "approvals_pending");
  assert.equal((await goOn(path, "captain"))[0], "went on");
});

test("a sign-in without any role ends older sessions of the person (lost-people.1)", async () => {
  const browser = await signIn("demoted");
  assert.equal((await browser.visit(`${server.url}/inbox`)).status, 200);
  await signIn("demoted", []);
  assert.equal((await browser.visit(`${server.url}/inbox`)).status, 401);
});

suite("links (lost-people.2, lost-people.4)", () => {
  const APPROVAL = {
    action_requests: [{ name: "refund", args: { amount: 12.5 }, description: "Refund?" }],
    review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "reject"] }],
  };
  const linkFor = (
    { thread_id: threadId, interrupt_id: interruptId }: Asked,
    name: string,
    life = 3_600_000,
  ): string => {
    const token = { threadId, interruptId, person: `${name}@example.com`, expiresAt: Date.now() + life };
    return `${server.url}/answer/${writeToken(token, SECRET)}`;
  };
  const FORM = { method: "POST", body: new URLSearchParams({ choice: "approve" }) };

  for (const [how, lose] of [
    ["is removed", removePerson],
    ["has lost the role", (name: string) => signIn(name, ["guests"])],
    ["has a role for other threads only", (name: string) => signIn(name, ["eu"])],
  ] as const) {
    test(`a link is 403 once its person ${how}, and shows nothing`, async () => {
      const asked = await ask(server, APPROVAL);
      const name = `linked${how.length}`;
      await signIn(name);
      const link = linkFor(asked, name);
      assert.match(await (await fetch(link)).text(), /Refund/);
      await lose(name);
      for (const init of [{}, FORM]) {
        const refused = await fetch(link, init);
        const text = await refused.text();
        assert.deepEqual([refused.status, /Refund/.test(text)], [403, false], text);
      }
      assert.equal((await send(server, "GET", `/threads/${asked.thread_id}`)).body["status"], "interrupted");
    });
  }

  test("without sign-in, links and votes of a contact end with the entry in the notification file", async () => {
    const file = join(folder, "contacts.json");
    const startWith = (people: object, on?: ServerHere): Promise<ServerHere> => {
      writeFileSync(file, JSON.stringify({ email: { from: "h@example.com" }, people, rules: [] }));
      const env = { ...KEYS, HOLDPOINT_NOTIFICATIONS: file, SMTP_URL: mailbox.url, HOLDPOINT_LINK_SECRET: SECRET };
      if (on === undefined) return startServerHere({ env });
      return startServerHere({ env: { ...env, DATABASE_URI: on.databaseUri }, dataDir: on.dataDir });
    };
    const contacts = { "zoe@example.com": {}, "yan@example.com": {} };
    const before = await startWith(contacts);
    const asked = await ask(before, { ...APPROVAL, review_rules: { approvals: 2 } });
    const linkOn = (on: ServerHere, name: string, life?: number): string =>
      linkFor(asked, name, life).replace(server.url, on.url);
    assert.match(await (await fetch(linkOn(before, "zoe"), FORM)).text(), /vote is counted/);
    await before.stop();
    const later = await startWith({ "yan@example.com": {} }, before);
    const refused = await fetch(linkOn(later, "zoe", 7_200_000), FORM);
    assert.equal(refused.status, 403);
    assert.match(await (await fetch(linkOn(later, "yan"), FORM)).text(), /vote is counted/, "one vote of two");
    const value = { decisions: [{ type: "approve" }] };
    const decided = await send(later, "POST", "/inbox/answers", [{ ...asked, resume: value }]);
    assert.equal(statusIn(decided.text), "answered");
    await later.stop();
    removeFolder(later.dataDir);
  });

  test("a used link is used, also after a clock that was 399 days ahead", async () => {
    const asked = await ask(server, APPROVAL);
    await signIn("linked");
    const link = linkFor(asked, "linked");
    assert.equal((await fetch(link, FORM)).status, 200);
    if (process.env["HOLDPOINT_TEST_STORAGE"] !== "postgres") {
      const file = new DatabaseSync(join(server.dataDir, "holdpoint.db"));
      const ahead = Date.now() + 399 * 24 * 3_600_000;
      file.prepare("DELETE FROM spent_tokens WHERE expires_at < ?").run(ahead); // as the next use of a link would
      file.close();
    }
    const again = await fetch(link, FORM);
    assert.deepEqual([again.status, /This link was used/.test(await again.text())], [410, true]);
  });
});

suite("names (lost-people.3)", () => {
  test("a key does not get the name of a person", async () => {
    await signIn("named");
    const refused = await send(server, "POST", "/keys", { name: "named@example.com", role: "reviewer" });
    assert.equal(readProblem(refused).code, "key_name_taken");
  });

  test("nobody signs in with the name of a key, stored or of the settings", async () => {
    await newKey(server, { name: "early@example.com" });
    for (const [subject, claims] of [
      ["early", { email: "early@example.com", email_verified: true, groups: ["finance"] }],
      ["root", { groups: ["finance"] }],
    ] as const) {
      provider.accounts.set(subject, claims);
      const landed = await newBrowser().signIn(server.url, subject);
      assert.match(landed.url, /sign_in_error=name_taken$/, subject);
    }
    assert.ok(!(await send(server, "GET", "/people")).text.includes("early@example.com"));
  });
});

const PATHS = ["/inbox", "/threads/search", "/assistants/search", "/info", "/console/api/caller"];
for (const path of PATHS) {
  test(`the reply of ${path} to a signed-in person is not stored (lost-people.5)`, async () => {
    const browser = await signIn("reader");
    const init = path.endsWith("/search")
      ? { method: "POST", headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" }, body: "{}" }
      : {};
    const reply = await browser.visit(`${server.url}${path}`, init);
    assert.match(reply.headers.get("cache-control") ?? "", /no-store/, `${reply.status} ${reply.text.slice(0, 200)}`);
  });
}

const WAITS: readonly (readonly [name: string, start: (key: string) => Promise<string>])[] = [
  [
    "a request",
    async (key) => {
      const { body } = await send(keyed, "POST", "/requests", { payload: "Pay?" }, key);
      return `/requests/${String(body["request_id"])}?wait=60`;
    },
  ],
  [
    "the end of a run",
    async (key) => {
      const { body: thread } = await send(keyed, "POST", "/threads", {}, key);
      const path = `/threads/${String(thread["thread_id"])}/runs`;
      const { body } = await send(keyed, "POST", path, { assistant_id: "slow", input: { waitMs: 600_000 } }, key);
      return `${path}/${String(body["run_id"])}/join`;
    },
  ],
];

/** What the wait waits for. */
async function endWait(path: string): Promise<Answer> {
  const [, , id = ""] = (path.split("?")[0] ?? "").split("/");
  if (path.startsWith("/requests")) return send(keyed, "POST", `/requests/${id}/answer`, { answer: "a secret" });
  return send(keyed, "POST", path.replace("/join", "/cancel?wait=true"), {});
}

for (const [name, start] of WAITS)
  test(`whoever waits for ${name} with a revoked key gets nothing (lost-people.6)`, async () => {
    const { id, key } = await newKey(keyed, { name: `waiting${name.length}`, role: "operator" });
    const path = await start(key);
    const waiting = send(keyed, "GET", path, undefined, key);
    for (let others = 0; others < 5; others++) await send(keyed, "GET", "/inbox"); // it waits by then
    assert.equal((await send(keyed, "DELETE", `/keys/${id}`)).status, 204);
    const ended = await endWait(path);
    assert.ok(ended.status < 300, ended.text);
    const { status, text } = await waiting;
    assert.deepEqual([status, /secret|waitMs/.test(text)], [401, false], text);
  });

for (const make of ["a new thread with a state", "an edit of a new thread"])
  test(`a key limited to one assistant runs no other one by ${make} (lost-people.7)`, async () => {
    const { key } = await newKey(keyed, { name: `limited${make.length}`, role: "operator", assistants: ["echo"] });
    const update = { values: { visited: ["forged"] }, as_node: "node_a" };
    const supersteps = make.startsWith("a new") ? { supersteps: [{ updates: [update] }] } : {};
    const body = { metadata: { graph_id: "compiled_breakpoints" }, ...supersteps };
    const { body: thread } = await send(keyed, "POST", "/threads", body, key);
    const threadId = String(thread["thread_id"]);
    if (!("supersteps" in supersteps)) await send(keyed, "POST", `/threads/${threadId}/state`, update, key);
    const { body: inbox } = await send(keyed, "GET", `/inbox?thread_id=${threadId}`, undefined, key);
    const [item] = inbox["items"] as readonly { readonly id: string }[];
    const answer = [{ thread_id: threadId, interrupt_id: item?.id }];
    const refused = await send(keyed, "POST", "/inbox/answers", answer, key);
    assert.match(refused.text, /does not include the assistant/);
    assert.equal(statusIn((await send(keyed, "POST", "/inbox/answers", answer)).text), "answered");
  });

for (const [name, at] of [
  ["a thread", (thread: string) => `${thread}/stream`],
  ["a run", (thread: string, run: string) => `${thread}/runs/${run}/stream`],
  ["a run of any thread", (_thread: string, run: string) => `/runs/${run}/stream`],
] as const)
  test(`the stream of ${name} ends when the thread goes to others (lost-people.8)`, async () => {
    const limited = { name: `europe${name.length}`, role: "operator", metadata: { region: "eu" } };
    const [{ key }, twin] = [await newKey(keyed, limited), await newKey(keyed, limited)];
    const thread = `/threads/${String((await send(keyed, "POST", "/threads", {}, key)).body["thread_id"])}`;
    const slow = { assistant_id: "slow", input: { waitMs: 600_000 } };
    const run = String((await send(keyed, "POST", `${thread}/runs`, slow, key)).body["run_id"]);
    const { body } = await fetch(`${keyed.url}${at(thread, run)}`, { headers: { "x-api-key": key } });
    const reading = new Response(body).text();
    assert.equal((await send(keyed, "PATCH", thread, { metadata: { region: "us" } })).status, 200);
    await send(keyed, "DELETE", `/keys/${twin.id}`); // every open stream of the name is checked now
    await assert.rejects(reading, /terminated/);
    await send(keyed, "POST", `${thread}/runs/${run}/cancel`, {});
  });
