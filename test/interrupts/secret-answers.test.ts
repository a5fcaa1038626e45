// Tests of answers whose schema marks secrets, over HTTP: each place that shows answers, for each form of a schema.
// Checked:
//   secret-answers.1. A caller that may not answer reads the mask in place of a secret; so do webhooks, run objects and events.
//   secret-answers.2. A caller that may answer reads the answer.
//   secret-answers.3. No search finds a secret, or tells by its results what it is.
//   secret-answers.4. The audit trail stays intact.
//   secret-answers.5. Messages of Slack and e-mails name who answered, and show no answer.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { startMailbox } from "../fakes/mailbox.ts";
import { BOT_TOKEN, SIGNING_SECRET, startFakeSlack } from "../fakes/slack/fake-slack.ts";
import { startWebhookReceiver } from "../fakes/webhook-receiver.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, temporaryFolder, type Answer } from "../harness/server.ts";

const nameKey = (who: string): string => `the-long-key-of-${who}`;
const KEYS = Object.entries({ eve: "viewer", rita: "reviewer", otto: "operator", olga: "operator" })
  .map(([who, role]) => `${who}:${nameKey(who)}:${role}`)
  .join(",");

const receiver = await startWebhookReceiver({});
const slack = await startFakeSlack([]);
const mailbox = await startMailbox();
const folder = temporaryFolder();
const notifications = join(folder, "notifications.json");
const rules = [{ name: "all", graphs: ["login"], slack: ["C0000000001"], email: ["rita@example.com"] }];
writeFileSync(
  notifications,
  JSON.stringify({ slack: { api_url: slack.url }, email: { from: "h@example.com", links: "1d" }, rules }),
);
const server = await startServerHere({
  config: join(ROOT, "test", "graphs", "secrets", "langgraph.json"),
  env: {
    HOLDPOINT_API_KEYS: KEYS,
    RESUMABLE_STREAM_TTL_SECONDS: "3600",
    HOLDPOINT_NOTIFICATIONS: notifications,
    HOLDPOINT_LINK_SECRET: "a secret for the links of the tests",
    SMTP_URL: mailbox.url,
    SLACK_BOT_TOKEN: BOT_TOKEN,
    SLACK_SIGNING_SECRET: SIGNING_SECRET,
  },
});
after(async () => {
  await server.stop();
  await Promise.all([receiver.close(), slack.close(), mailbox.close()]);
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const send = (who: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  call(server, method, path, body, { "x-api-key": nameKey(who) });

interface Form {
  readonly name: string;
  /** Undefined: the schema is derived from the payload. */
  readonly schema?: object;
  readonly payload?: object;
  readonly answer: (secret: string) => unknown;
}

const PASSWORD = { type: "string", format: "password" };
const WRITE_ONLY = { type: "string", writeOnly: true };
const FORMS: readonly Form[] = [
  { name: "root", schema: PASSWORD, answer: (secret) => secret },
  { name: "member", schema: { properties: { user: {}, pin: WRITE_ONLY } }, answer: (pin) => ({ user: "robin", pin }) },
  {
    name: "deep",
    schema: { properties: { logins: { type: "array", items: { properties: { word: PASSWORD } } } } },
    answer: (word) => ({ logins: [{ word: "first" }, { word }] }),
  },
  {
    name: "reference",
    schema: {
      $defs: { secret: WRITE_ONLY },
      properties: { all: { type: "array", items: { $ref: "#/$defs/secret" } } },
    },
    answer: (secret) => ({ all: [secret] }),
  },
  {
    name: "choice",
    schema: { anyOf: [{ type: "null" }, { type: "object", properties: { key: { allOf: [PASSWORD] } } }] },
    answer: (key) => ({ key }),
  },
  { name: "others", schema: { type: "object", additionalProperties: WRITE_ONLY }, answer: (any) => ({ any }) },
  {
    name: "derived",
    payload: {
      action_requests: [{ name: "connect", args: { host: "db", word: "" }, description: "Connect?" }],
      review_configs: [
        {
          action_name: "connect",
          allowed_decisions: ["approve", "edit"],
          args_schema: { type: "object", properties: { host: {}, word: PASSWORD } },
        },
      ],
    },
    answer: (word) => ({
      decisions: [{ type: "edit", edited_action: { name: "connect", args: { host: "db", word } } }],
    }),
  },
  {
    name: "votes",
    schema: { properties: { pin: WRITE_ONLY }, "x-holdpoint-review": { approvals: 2 } },
    answer: (pin) => ({ pin }),
  },
];

interface Asked {
  readonly threadId: string;
  readonly interruptId: string;
  readonly runId: string;
  readonly secret: string;
}
const asked = new Map<string, Asked>();

/** Resolves once a message of Slack about this thread has these words, and an e-mail about it came. */
async function messagesAbout(threadId: string, words: string): Promise<readonly unknown[]> {
  await slack.until(() =>
    slack.messages.find(({ blocks }) => {
      const text = JSON.stringify(blocks);
      return text.includes(threadId) && text.includes(words);
    }),
  );
  return [...slack.calls, ...(await mailbox.came(threadId))];
}

/** Two operators answer; the first vote of `votes` leaves it open. */
async function answered({ name, schema, payload = { question: name }, answer }: Form): Promise<Asked> {
  const { body: thread } = await send("otto", "POST", "/threads", {});
  const threadId = String(thread["thread_id"]);
  const paused = await send("otto", "POST", `/threads/${threadId}/runs/wait`, {
    assistant_id: "login",
    input: { payload, schema },
  });
  const [{ id: interruptId = "" } = {}] = (paused.body["__interrupt__"] ?? []) as readonly { readonly id?: string }[];
  assert.ok(interruptId !== "", paused.text);
  await messagesAbout(threadId, "Open"); // an item that has ended is not sent
  const secret = `sesame${name}`;
  const run = { assistant_id: "login", command: { resume: { [interruptId]: answer(secret) } } };
  const isVote = name === "votes";
  const stream = { stream_mode: ["events", "debug", "tasks", "updates"], stream_resumable: true };
  const more = isVote ? {} : { webhook: `${receiver.url}/${name}`, ...stream };
  const ended = await send("olga", "POST", `/threads/${threadId}/runs`, { ...run, ...more });
  assert.equal(ended.status, isVote ? 409 : 200, ended.text);
  const runId = String(ended.body["run_id"] ?? "");
  if (!isVote) await send("otto", "GET", `/threads/${threadId}/runs/${runId}/join`);
  return { threadId, interruptId, runId, secret };
}

before(async () => {
  for (const form of FORMS) asked.set(form.name, await answered(form));
});

const PLACES: readonly { readonly name: string; readonly path: (one: Asked) => string; readonly mask: boolean }[] = [
  { name: "item", path: ({ threadId, interruptId }) => `/inbox/${threadId}/${interruptId}`, mask: true },
  { name: "list of items", path: ({ threadId }) => `/inbox?thread_id=${threadId}&values=true`, mask: false },
  { name: "trail", path: ({ threadId }) => `/threads/${threadId}/audit`, mask: true },
  { name: "trail as lines", path: ({ threadId }) => `/threads/${threadId}/audit?format=ndjson`, mask: true },
  { name: "trail as CSV", path: ({ threadId }) => `/threads/${threadId}/audit?format=csv`, mask: true },
  { name: "audit", path: ({ threadId }) => `/audit?thread_id=${threadId}`, mask: true },
  { name: "audit as lines", path: ({ threadId }) => `/audit?thread_id=${threadId}&format=ndjson`, mask: true },
  { name: "audit as CSV", path: ({ threadId }) => `/audit?thread_id=${threadId}&format=csv`, mask: true },
];

suite("places", () => {
  for (const { name: form } of FORMS) {
    for (const { name, path, mask } of PLACES) {
      test(`${name}, ${form}: only those that may answer read the secret (secret-answers.1, secret-answers.2)`, async () => {
        const one = asked.get(form) ?? assert.fail();
        const seen = await send("eve", "GET", path(one));
        assert.equal(seen.status, 200, seen.text);
        assert.ok(!seen.text.includes(one.secret), seen.text);
        const whole = await send("rita", "GET", path(one));
        const shows = mask || form === "votes"; // the list has open items only
        assert.equal(whole.text.includes(one.secret), shows, whole.text);
        assert.equal(seen.text.includes("********"), shows, seen.text);
      });
    }
  }
});

suite("places without a reader's rights (secret-answers.1)", () => {
  for (const { name: form } of FORMS.filter(({ name }) => name !== "votes")) {
    test(`run object, webhook and events, ${form}: the mask for everybody`, async () => {
      const { threadId, runId, secret } = asked.get(form) ?? assert.fail();
      const [webhook] = await receiver.came(`/${form}`);
      for (const text of [
        (await send("olga", "GET", `/threads/${threadId}/runs/${runId}`)).text,
        (await send("olga", "GET", `/threads/${threadId}/runs`)).text,
        webhook?.text ?? "",
        (await send("eve", "GET", `/threads/${threadId}/runs/${runId}/stream`, undefined)).text,
      ]) {
        assert.ok(!text.includes(secret), text);
        assert.ok(text.includes("********"), text);
      }
    });
  }
});

suite("messages (secret-answers.5)", () => {
  for (const { name: form } of FORMS) {
    test(`Slack and e-mail, ${form}: who answered, not what`, async () => {
      const { threadId, secret } = asked.get(form) ?? assert.fail();
      for (const sent of await messagesAbout(threadId, form === "votes" ? "Open" : "by olga"))
        assert.ok(!JSON.stringify(sent).includes(secret), JSON.stringify(sent));
    });
  }
});

suite("searches (secret-answers.3)", () => {
  for (const { name: form } of FORMS) {
    test(`no search finds the secret of ${form}`, async () => {
      const { secret } = asked.get(form) ?? assert.fail();
      for (const path of [`/audit?q=${secret}`, `/inbox?q=${secret}`]) {
        const { body, text } = await send("rita", "GET", path);
        assert.deepEqual(body["items"], [], text);
      }
      const threads = await send("rita", "POST", "/threads/search", { q: secret });
      assert.equal(threads.text, "[]");
    });
  }
});

test("the audit trail is intact (secret-answers.4)", async () => {
  const { body } = await send("rita", "GET", "/audit/verify");
  assert.deepEqual([body["intact"], body["faults"]], [true, []]);
});
