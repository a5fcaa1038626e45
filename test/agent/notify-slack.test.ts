// Tests of the Slack app, over real sockets, against a fake that enforces Slack's rules.
// Rules:
//   agent/notify-slack.1. A question is posted by the rules, with a button for each decision that it allows.
//   agent/notify-slack.2. A click or a form answers as the person behind the account, once, and the audit trail says so.
//   agent/notify-slack.3. However a question ends, each message about it shows its end.
//   agent/notify-slack.4. A request that Slack did not sign now, or that came before, has no effect.
//   agent/notify-slack.5. A person without the right to answer gets the reason, and the question stays open.
//   agent/notify-slack.6. Failures of Slack and its rate limits delay messages, and lose none.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import {
  BOT_TOKEN,
  limited,
  type PostedMessage,
  signedInteraction,
  SIGNING_SECRET,
  startFakeSlack,
} from "../fakes/slack/fake-slack.ts";
import { ok, type WireAudit } from "../harness/inbox.ts";
import { PATIENCE } from "../harness/patience.ts";
import { newBrowser, startOpenIdProvider } from "../harness/sign-in/openid-provider.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { newThread, type TestThread } from "../harness/threads.ts";

const ADA = "U0000000ADA";
const GUEST = "U000000GUEST";
const BOT = "U0000000BOT";
const STRANGER = "U00STRANGER";
const MAPPED = "U0000MAPPED";
const slack = await startFakeSlack([
  { id: ADA, email: "ada@example.com" },
  { id: GUEST, email: "guest@example.com", flags: { is_restricted: true } },
  { id: BOT, email: "bot@example.com", flags: { is_bot: true } },
  { id: STRANGER, email: "stranger@example.org", flags: { team_id: "T99999999" } },
]);
const folder = temporaryFolder();
const file = join(folder, "notifications.json");
const CHANNEL = "C0000000001";
const rules = {
  slack: { api_url: slack.url },
  people: { "grace@example.com": { slack: MAPPED } },
  rules: [{ name: "all", graphs: ["echo", "schema", "timed"], slack: [CHANNEL] }],
};
writeFileSync(file, JSON.stringify(rules));
const env = {
  HOLDPOINT_NOTIFICATIONS: file,
  SLACK_BOT_TOKEN: BOT_TOKEN,
  SLACK_SIGNING_SECRET: SIGNING_SECRET,
};
const server = await startServerHere({ env, limits: { webhookRetryMs: 20 } });
after(async () => {
  await server.stop();
  await slack.close();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const APPROVAL = {
  action_requests: [{ name: "refund", args: { amount: 12.5, to: "abc\u202egnp.exe" } }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "edit", "reject"] }],
};

interface Asked {
  readonly thread: TestThread;
  readonly id: string;
  readonly message: PostedMessage;
}

async function asked(payload: unknown = APPROVAL, graph = "echo"): Promise<Asked> {
  const thread = await newThread(server, graph);
  await thread.run({ input: { payload } });
  const [item] = await thread.open();
  const id = item?.id ?? "";
  const message = await slack.until(() => slack.messages.find(({ blocks }) => JSON.stringify(blocks).includes(id)));
  return { thread, id, message };
}

function labels({ blocks }: PostedMessage): readonly string[] {
  const buttons = blocks.flatMap(
    ({ elements }) => (elements ?? []) as readonly { readonly text: { readonly text: string } }[],
  );
  return buttons.filter(({ text }) => typeof text === "object").map(({ text }) => text.text);
}

async function audit(thread: TestThread): Promise<readonly WireAudit[]> {
  const { items }: { readonly items: readonly WireAudit[] } = await ok(call(server, "GET", `${thread.path}/audit`));
  return items;
}

const shows = (message: PostedMessage, text: string): Promise<unknown> =>
  slack.until(() => (JSON.stringify(message.blocks).includes(text) ? true : undefined));

suite("messages (agent/notify-slack.1)", PATIENCE, () => {
  test("have a button for each decision, and hide nothing", async () => {
    const { message } = await asked();
    assert.equal(message.channel, CHANNEL);
    assert.deepEqual(labels(message), ["Approve", "Edit…", "Reject…", "Open"]);
    assert.match(JSON.stringify(message.blocks), /abc\\\\u202egnp/);
    assert.deepEqual(slack.broken, []);
  });
  for (const [name, payload, expected] of [
    ["a question in words takes an answer", "Which city?", ["Answer…", "Open"]],
    ["a request too long for a message is approved in the console", tooLong(), ["Reject…", "Open"]],
    ["several actions are decided together, or one by one in the console", several(), ["Approve", "Reject…", "Open"]],
  ] as const)
    test(name, async () => assert.deepEqual(labels((await asked(payload)).message), expected));
});

function tooLong(): object {
  return { ...APPROVAL, action_requests: [{ name: "refund", args: { text: "&".repeat(20_000) } }] };
}

function several(): object {
  return { ...APPROVAL, action_requests: [...APPROVAL.action_requests, ...APPROVAL.action_requests] };
}

suite("answers (agent/notify-slack.2)", PATIENCE, () => {
  test("a click approves, and the audit trail names the person and Slack", async () => {
    const { thread, message } = await asked();
    await slack.click(server.url, message, "approve", ADA);
    await thread.reaches("idle");
    const entry = (await audit(thread)).at(-1);
    assert.deepEqual([entry?.action, entry?.by, entry?.via], ["answered", "ada@example.com", "slack"]);
    assert.deepEqual((await thread.get()).values?.["answer"], [{ decisions: [{ type: "approve" }] }]);
    await shows(message, "Approved by ada@example.com.");
    assert.deepEqual(labels(message), ["Open"]);
  });

  test("a click that only counts as a vote says so to the person; the next one decides", async () => {
    const { thread, message, id } = await asked({ ...APPROVAL, review_rules: { approvals: 2 } });
    await slack.click(server.url, message, "approve", ADA);
    const note = await slack.until(() => slack.notes.find(({ user, text }) => user === ADA && text.includes(id)));
    assert.match(note.text, /Your answer is counted.* 1 of 2 approvals/);
    assert.equal((await thread.get()).status, "interrupted");
    assert.deepEqual(labels(message), ["Approve", "Edit…", "Reject…", "Open"]);
    await slack.click(server.url, message, "approve", MAPPED);
    await thread.reaches("idle");
    await shows(message, "Approved by grace@example.com.");
  });

  test("a form rejects with a reason", async () => {
    const { thread, message } = await asked();
    await slack.click(server.url, message, "reject", MAPPED);
    await slack.submit(server.url, "too much", MAPPED);
    await thread.reaches("idle");
    assert.deepEqual((await thread.get()).values?.["answer"], [
      { decisions: [{ type: "reject", message: "too much" }] },
    ]);
    assert.equal((await audit(thread)).at(-1)?.by, "grace@example.com", "a listed person");
  });

  test("a form edits the arguments; a text that is not JSON is refused in the form", async () => {
    const { thread, message } = await asked();
    await slack.click(server.url, message, "edit", ADA);
    const refused = (await (await slack.submit(server.url, '{"amount": ', ADA)).json()) as Record<string, unknown>;
    assert.equal(refused["response_action"], "errors");
    await slack.submit(server.url, '{"amount": 9.99}', ADA);
    await thread.reaches("idle");
    assert.deepEqual((await thread.get()).values?.["answer"], [
      { decisions: [{ type: "edit", edited_action: { name: "refund", args: { amount: 9.99 } } }] },
    ]);
    await shows(message, "Approved with changes by ada@example.com.");
  });

  test("a form answers a question as text, and with a schema as JSON", async () => {
    const question = await asked("Which city?");
    await slack.click(server.url, question.message, "respond", ADA);
    await slack.submit(server.url, "42", ADA);
    await question.thread.reaches("idle");
    assert.deepEqual((await question.thread.get()).values?.["answer"], ["42"]);
    const form = await asked("?", "schema");
    await slack.click(server.url, form.message, "respond", ADA);
    const wrong = (await (await slack.submit(server.url, '{"approved": 1}', ADA)).json()) as Record<string, unknown>;
    assert.match(JSON.stringify(wrong["errors"]), /approved/);
    await slack.submit(server.url, '{"approved": true}', ADA);
    await form.thread.reaches("idle");
    assert.deepEqual((await form.thread.get()).values?.["answer"], { approved: true });
  });

  for (const [typed, answer] of [
    ["{\u201capproved\u201d: true}", { approved: true }],
    ['{\u00a0"approved"\u00a0:\u202ffalse\u00a0}', { approved: false }],
    ["{\u201eapproved\u201c:\u00a0true}", { approved: true }],
  ] as const)
    test(`a form takes ${typed}, as keyboards write it`, async () => {
      const form = await asked("?", "schema");
      await slack.click(server.url, form.message, "respond", ADA);
      await slack.submit(server.url, typed, ADA);
      await form.thread.reaches("idle");
      assert.deepEqual((await form.thread.get()).values?.["answer"], answer);
    });

  for (const [schema, label, answer] of [
    [{ type: "string", enum: ["Bern", "Kyiv"] }, "Kyiv", "Kyiv"],
    [{ enum: [1, "1", null] }, "1", 1],
    [{ type: "boolean" }, "No", false],
    [{ oneOf: [{ const: "a", title: "Small" }, { const: "b" }] }, "Small", "a"],
  ] as const)
    test(`choices of ${JSON.stringify(schema)} are a select`, async () => {
      const form = await asked({ question: `Which of ${label}?`, response_schema: schema });
      await slack.click(server.url, form.message, "respond", ADA);
      assert.match(JSON.stringify(slack.views.at(-1)), /static_select/);
      await slack.submit(server.url, label, ADA);
      await form.thread.reaches("idle");
      assert.deepEqual((await form.thread.get()).values?.["answer"], [answer]);
    });

  test("choices that do not fit into a select are an input", async () => {
    const values = Array.from({ length: 101 }, (_, index) => `choice ${index}`);
    const form = await asked({ question: "Which of many?", response_schema: { enum: values } });
    await slack.click(server.url, form.message, "respond", ADA);
    assert.match(JSON.stringify(slack.views.at(-1)), /plain_text_input/);
    await slack.submit(server.url, "\u201cchoice 100\u201d", ADA);
    await form.thread.reaches("idle");
  });

  test("of many clicks one answers; the others learn that it is too late", async () => {
    const { thread, message } = await asked();
    await Promise.all(Array.from({ length: 20 }, () => slack.click(server.url, message, "approve", ADA)));
    await thread.reaches("idle");
    const answers = (await audit(thread)).filter(({ action }) => action === "answered");
    assert.equal(answers.length, 1);
  });
});

suite("the end of a question (agent/notify-slack.3)", PATIENCE, () => {
  test("an answer over the API updates the message", async () => {
    const { thread, message } = await asked();
    await thread.resume({ decisions: [{ type: "reject" }] });
    await shows(message, "Rejected by anonymous.");
  });
  test("a deadline updates the message", async () => {
    const payload = { question: "Soon?", expires_in_seconds: 0.2, on_expiry: { answer: "default" } };
    const { message } = await asked(payload, "timed");
    await shows(message, "Answered by deadline.");
  });
  test("new input that abandons the question updates the message", async () => {
    const { thread, message } = await asked();
    await thread.run({ input: { payload: "another" } });
    await shows(message, "No longer waiting");
  });
  test("the deletion of the thread updates the message", async () => {
    const { thread, message } = await asked();
    assert.equal((await call(server, "DELETE", thread.path)).status, 204);
    await shows(message, "the thread was deleted");
  });
});

suite("requests that are refused (agent/notify-slack.4)", PATIENCE, () => {
  const post = ({ headers, body }: ReturnType<typeof signedInteraction>): Promise<Response> =>
    fetch(`${server.url}/slack/interactions`, { method: "POST", headers, body });
  const MINUTE = 60_000;

  for (const [name, change] of [
    [
      "without a signature",
      (sent: Sent) => ({ ...sent, headers: { "content-type": sent.headers["content-type"] ?? "" } }),
    ],
    ["signed with another secret", (sent: Sent, payload: object) => signedInteraction(payload, Date.now(), "another")],
    ["of six minutes ago", (_: Sent, payload: object) => signedInteraction(payload, Date.now() - 6 * MINUTE)],
    ["of a time to come", (_: Sent, payload: object) => signedInteraction(payload, Date.now() + 6 * MINUTE)],
    ["with a changed body", (sent: Sent) => ({ ...sent, body: `${sent.body}&x=1` })],
  ] as const)
    test(`a request ${name}`, async () => {
      const { thread, id, message } = await asked();
      const payload = clickPayload(thread, id, message);
      const refused = await post(change(signedInteraction(payload), payload));
      assert.equal(refused.status, 401);
      assert.equal((await thread.get()).status, "interrupted");
    });

  test("a request that came before", async () => {
    const { thread, id, message } = await asked();
    const sent = signedInteraction({ ...clickPayload(thread, id, message), user: { id: GUEST } });
    assert.equal((await post(sent)).status, 200);
    assert.equal((await post(sent)).status, 401);
  });
});

type Sent = ReturnType<typeof signedInteraction>;

function clickPayload(thread: TestThread, id: string, message: PostedMessage): object {
  return {
    type: "block_actions",
    user: { id: ADA },
    trigger_id: "1",
    container: { channel_id: message.channel, message_ts: message.ts },
    actions: [{ action_id: "approve", value: `${thread.threadId} ${id}` }],
  };
}

suite("people who may not answer (agent/notify-slack.5)", PATIENCE, () => {
  for (const [name, member, reason] of [
    ["a guest", GUEST, /Only full members/],
    ["a bot", BOT, /cannot answer/],
    ["a member of a connected workspace", STRANGER, /Only full members/],
    ["an unknown account", "U0000NOBODY", /did not name/],
  ] as const)
    test(name, async () => {
      const { thread, message } = await asked();
      await slack.click(server.url, message, "approve", member);
      const note = await slack.until(() => slack.notes.find(({ user }) => user === member));
      assert.match(note.text, reason);
      assert.equal((await thread.get()).status, "interrupted");
    });
});

suite("Slack in trouble (agent/notify-slack.6)", PATIENCE, () => {
  test("a question for an archived channel reaches the administrators, with the reason", async (t) => {
    const provider = await startOpenIdProvider();
    const own = await startServerHere({
      env: {
        ...env,
        ...provider.env,
        HOLDPOINT_ROLES: "platform=admin,*=viewer",
        HOLDPOINT_API_KEYS: "root:key-of-the-test-77ae-1",
      },
    });
    t.after(async () => {
      await own.stop();
      removeFolder(own.dataDir);
      await provider.stop();
    });
    provider.allow(own.url);
    provider.accounts.set("ada", { email: "ada@example.com", groups: ["platform"] });
    provider.accounts.set("guest", { email: "guest@example.com", groups: [] });
    for (const subject of ["ada", "guest"]) await newBrowser().signIn(own.url, subject);
    const archived = JSON.stringify({ ok: false, error: "is_archived" });
    slack.fail("chat.postMessage", 1, (response) => void response.writeHead(200).end(archived));
    const headers = { "x-api-key": "key-of-the-test-77ae-1" };
    const { thread_id: id }: { readonly thread_id: string } = await ok(call(own, "POST", "/threads", {}, headers));
    const body = { assistant_id: "echo", input: { payload: "Where to?" } };
    await ok(call(own, "POST", `/threads/${id}/runs/wait`, body, headers));
    const told = await slack.until(() => slack.messages.find(({ blocks }) => JSON.stringify(blocks).includes(id)));
    assert.equal(told.channel, `D${ADA.slice(1)}`);
    assert.match(JSON.stringify(told.blocks), /does not take messages to C0000000001 \(is_archived\)/);
    assert.equal(slack.messages.filter(({ blocks }) => JSON.stringify(blocks).includes(id)).length, 1);
    const given = own.logs.find(({ event }) => event === "webhook_given_up");
    assert.equal(given?.["reason"], "C0000000001: is_archived");
  });

  test("a message is repeated after failures, and waits for the end of a rate limit", async () => {
    slack.fail("chat.postMessage", 2, (response) => void response.writeHead(500).end());
    slack.fail("chat.postMessage", 1, limited(1));
    const { message } = await asked();
    assert.equal(message.channel, CHANNEL);
    const limits = server.logs.filter(({ event }) => event === "webhook_limited");
    assert.deepEqual(
      limits.map(({ wait_ms: wait }) => wait),
      [1000],
    );
  });

  test("no reply of the app broke a rule of Slack", async () => {
    assert.deepEqual(slack.broken, []);
  });
});
