// Tests of webhooks, over real sockets.
// Rules:
//   agent/webhooks.1. Every end of a run sends one webhook, with the run, its state and its interrupts, signed.
//   agent/webhooks.2. At least once: a failed delivery repeats under the same event id, also after a restart.
//   agent/webhooks.3. No receiver affects runs or the server; after the last attempt the server drops the webhook.
//   agent/webhooks.4. A forbidden destination fails the call before the run starts.
//   agent/webhooks.5. A new interrupt goes to the address of its run, signed, with its link; to Slack in Slack's form.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { after, suite, test } from "node:test";
import { brokenSlackRules } from "../fakes/slack/slack-rules.ts";
import { startWebhookReceiver } from "../fakes/webhook-receiver.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder, TEST_GRAPHS } from "../harness/server.ts";
import { newThread, onlyQuestion, readProblem, type WireRun } from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const SECRET = "whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM=";
const MUCH_LATER_SECS = 3600;

const folder = temporaryFolder();

/** The graphs of the tests, with webhooks opened as the section says. */
function configWith(name: string, webhooks: object): string {
  const file = JSON.parse(readFileSync(TEST_GRAPHS, "utf8")) as { readonly graphs: Readonly<Record<string, string>> };
  const graphs = Object.entries(file.graphs).map(([id, path]) => [
    id,
    isAbsolute(path) ? path : join(dirname(TEST_GRAPHS), path),
  ]);
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify({ graphs: Object.fromEntries(graphs), webhooks }));
  return path;
}

const OPEN = {
  url: { require_https: false, allowed_networks: ["127.0.0.1"] },
  headers: { Authorization: "Bearer ${{ env.LG_WEBHOOK_KEY }}" },
  header_domains: ["127.0.0.1"],
};
const config = configWith("open", OPEN);
const env = {
  HOLDPOINT_WEBHOOK_SECRET: SECRET,
  LG_WEBHOOK_KEY: "for the receiver",
};

const limits = { webhookAttemptsMax: 3, webhookRetryMs: 20 };

const receiver = await startWebhookReceiver({
  "/slack-fails-once": (response, nth) => void response.writeHead(nth === 1 ? 500 : 200).end("ok"),
  "/fails-once": (response, nth) => void response.writeHead(nth === 1 ? 500 : 204).end(),
  "/never": (response) => void response.writeHead(503).end(),
  "/elsewhere": (response) => void response.writeHead(302, { location: "/landed" }).end(),
  "/hangs": () => undefined,
});
const server = await startServerHere({ config, env, limits });
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  await receiver.close();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const hook = (path: string): string => `${receiver.url}${path}`;

function given(up: ServerHere, runId: string): Promise<Record<string, unknown>> {
  return up.whenLogged("the webhook is given up", (logs) =>
    logs.find(({ event, run_id }) => event === "webhook_given_up" && run_id === runId),
  );
}

suite("notifications of interrupts (agent/webhooks.5)", PATIENCE, () => {
  test("to the address of the run, signed, with the link that leads to the item", async () => {
    const thread = await newThread(server, "echo");
    await thread.begin({ input: {}, notify: { url: hook("/asked") } });
    const [webhook] = await receiver.came("/asked");
    assert.ok(webhook !== undefined);
    const { event, headers, text } = webhook;
    const [question] = Object.values((await thread.get()).interrupts).flat();
    assert.deepEqual([event["type"], event.thread_id, event["id"]], ["interrupt.asked", thread.threadId, question?.id]);
    assert.equal(event["url"], `${server.url}/console/inbox/${thread.threadId}/${String(question?.id)}`);
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${text}`;
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    assert.equal(headers["webhook-signature"], `v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  });

  test("to Slack, as a message that keeps its rules; tried again when it fails", async () => {
    const thread = await newThread(server, "echo");
    await thread.begin({ input: {}, notify: { url: hook("/slack-fails-once"), format: "slack" } });
    const [first, second] = await receiver.came("/slack-fails-once", 2);
    assert.deepEqual(brokenSlackRules(JSON.parse(second?.text ?? "")), []);
    assert.deepEqual([second?.text, second?.headers["webhook-id"]], [first?.text, first?.headers["webhook-id"]]);
  });

  test("and not to an address that is not allowed: the run is refused", async () => {
    const thread = await newThread(server, "echo");
    const refused = await thread.wait({ input: {}, notify: { url: "http://10.0.0.1/" } });
    assert.deepEqual([refused.status, readProblem(refused).code], [422, "webhook_refused"]);
  });
});

suite("contents (agent/webhooks.1)", PATIENCE, () => {
  test("the end of a run, with its state, signed", async () => {
    const { thread_id: threadId } = await client.threads.create();
    const run = await client.runs.create(threadId, "steps", {
      input: { visited: [] },
      metadata: { of: "webhook" },
      webhook: hook("/done?a=b"),
    });
    const [webhook] = await receiver.came("/done?a=b");
    assert.ok(webhook !== undefined);
    const { event, headers, text } = webhook;
    assert.deepEqual(event.values, { visited: ["node_a", "node_b", "node_c"] });
    assert.deepEqual(
      [event.run_id, event.thread_id, event.status, event.ended_by, event.pause, event.interrupts],
      [run.run_id, threadId, "success", "done", null, []],
    );
    assert.equal((event["metadata"] as Record<string, unknown>)["of"], "webhook");
    assert.deepEqual((event["kwargs"] as Record<string, unknown>)["input"], { visited: [] });
    for (const name of ["run_started_at", "run_ended_at", "webhook_sent_at"]) {
      assert.match(String(event[name]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, name);
    }
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers.authorization, "Bearer for the receiver");
    assert.equal(headers["webhook-id"], run.run_id);
    const signed = `${run.run_id}.${String(headers["webhook-timestamp"])}.${text}`;
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    assert.equal(headers["webhook-signature"], `v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  });

  for (const [name, section] of [
    ["without a list", {}],
    ["with a list of others", { header_domains: ["hooks.example.com", "*.127.0.0.1"] }],
  ] as const)
    test(`but headers, which may hold secrets, not to an address that only the caller names: ${name}`, async (t) => {
      const { header_domains: _, ...open } = OPEN;
      const other = await startServerHere({
        config: configWith(`headers ${name}`, { ...open, ...section }),
        env,
        limits,
      });
      t.after(async () => {
        await other.stop();
        removeFolder(other.dataDir);
      });
      const path = `/caller?${encodeURIComponent(name)}`;
      const caller = new Client({ apiUrl: other.url, apiKey: null });
      const { thread_id: threadId } = await caller.threads.create();
      await caller.runs.create(threadId, "steps", { input: { visited: [] }, webhook: hook(path) });
      const [webhook] = await receiver.came(path);
      assert.deepEqual(
        [webhook?.headers.authorization, webhook?.text.includes("for the receiver")],
        [undefined, false],
      );
      assert.notEqual(webhook?.headers["webhook-signature"], undefined, "it is signed all the same");
      const said = other.logs.some(({ remark }) => String(remark).includes("webhooks.header_domains"));
      assert.equal(said, name === "without a list", "the start says so when headers go nowhere");
    });

  test("a pause, with its questions, which can be answered by then; and the answer's run", async () => {
    const thread = await newThread(server, "echo");
    await thread.begin({ input: {}, webhook: hook("/pause") });
    const [webhook] = await receiver.came("/pause");
    assert.ok(webhook !== undefined);
    assert.deepEqual(
      [webhook.event.status, webhook.event.ended_by, webhook.event.pause],
      ["interrupted", "pause", "question"],
    );
    const [question] = webhook.event.interrupts;
    assert.ok(question !== undefined);
    const result = await thread.run({ command: { resume: { [question.id]: "yes" } }, webhook: hook("/answered") });
    const [answered] = await receiver.came("/answered");
    assert.deepEqual(answered?.event.values, result);
  });

  test("the run created by an inbox answer notifies the address of the interrupted run", async () => {
    const thread = await newThread(server, "echo");
    const question = onlyQuestion(await thread.run({ input: {}, webhook: hook("/inbox") }));
    const answers = [{ thread_id: thread.threadId, interrupt_id: question.id, resume: "yes" }];
    const answered = await call(server, "POST", "/inbox/answers", { answers });
    assert.equal(answered.status, 200, answered.text);
    const told = await receiver.came("/inbox", 2);
    assert.deepEqual(
      told.map(({ event }) => event.ended_by),
      ["pause", "done"],
    );
  });

  const ENDS: readonly {
    readonly name: string;
    readonly path: string;
    readonly endedBy: string;
    readonly start: (path: string) => Promise<unknown>;
  }[] = [
    {
      name: "a failure",
      path: "/failure",
      endedBy: "failure",
      start: async (webhook) => (await newThread(server, "failing")).begin({ input: {}, webhook }),
    },
    {
      name: "a breakpoint",
      path: "/breakpoint",
      endedBy: "pause",
      start: async (webhook) => (await newThread(server, "steps")).begin({ input: {}, interrupt_before: "*", webhook }),
    },
    ...(["interrupt", "rollback"] as const).map((action) => ({
      name: `a cancellation with ${action}`,
      path: `/${action}`,
      endedBy: action === "interrupt" ? "cancel" : "rollback",
      start: async (webhook: string) => {
        const thread = await newThread(server, "hanging");
        const run = await thread.begin({ input: {}, webhook });
        await client.runs.cancel(thread.threadId, run.run_id, true, action);
      },
    })),
    {
      name: "the cancellation of a delayed run",
      path: "/delayed",
      endedBy: "cancel",
      start: async (webhook) => {
        const thread = await newThread(server, "steps");
        const run = await thread.begin({ input: {}, webhook, after_seconds: MUCH_LATER_SECS });
        await client.runs.cancel(thread.threadId, run.run_id);
      },
    },
    {
      name: "a delayed run that gives way to another call",
      path: "/gave-way",
      endedBy: "rollback",
      start: async (webhook) => {
        const thread = await newThread(server, "steps");
        await thread.begin({ input: {}, webhook, after_seconds: MUCH_LATER_SECS });
        await thread.run({ input: {}, multitask_strategy: "rollback" });
      },
    },
    {
      name: "a stateless run, although its thread is gone",
      path: "/stateless",
      endedBy: "done",
      start: (webhook) => client.runs.wait(null, "steps", { input: {}, webhook }),
    },
  ];
  for (const { name, path, endedBy, start } of ENDS) {
    test(name, async () => {
      await start(hook(path));
      const [webhook] = await receiver.came(path);
      assert.equal(webhook?.event.ended_by, endedBy);
      if (endedBy === "failure") assert.equal(webhook?.event.error?.error, "NodeFault");
    });
  }
});

suite("a receiver that fails (agent/webhooks.2, agent/webhooks.3)", PATIENCE, () => {
  test("retries under the same id with a new signature", async () => {
    const thread = await newThread(server, "steps");
    const run = await thread.begin({ input: {}, webhook: hook("/fails-once") });
    const [first, second] = await receiver.came("/fails-once", 2);
    assert.deepEqual([first?.headers["webhook-id"], second?.headers["webhook-id"]], [run.run_id, run.run_id]);
    assert.deepEqual(first?.event.values, second?.event.values);
    assert.equal((await thread.get()).status, "idle");
  });

  test("it is dropped after the configured number of attempts, and the run stays unchanged", async () => {
    const thread = await newThread(server, "steps");
    const run = await thread.begin({ input: {}, webhook: hook("/never") });
    assert.equal((await given(server, run.run_id))["attempts"], 3);
    assert.equal((await receiver.came("/never", 3)).length, 3);
    assert.deepEqual([(await thread.runs())[0]?.status, (await thread.get()).status], ["success", "idle"]);
  });

  test("a redirect counts as a failure and is not followed", async () => {
    const thread = await newThread(server, "steps");
    const run = await thread.begin({ input: {}, webhook: hook("/elsewhere") });
    assert.equal((await given(server, run.run_id))["reason"], "status 302");
    assert.equal(receiver.received.filter(({ path }) => path === "/landed").length, 0);
  });

  test("receivers that hang or are not there hold up neither runs nor other receivers", async () => {
    const nobody = await startWebhookReceiver();
    await nobody.close();
    const threads = [];
    for (let at = 0; at < 20; at++) {
      const thread = await newThread(server, "steps");
      threads.push(thread);
      await thread.run({ input: {}, webhook: at % 2 === 0 ? hook("/hangs") : `${nobody.url}/x` });
    }
    const other = await startWebhookReceiver();
    await client.runs.wait(null, "steps", { input: {}, webhook: `${other.url}/other` });
    await other.came("/other");
    await other.close();
    const metrics = (await call(server, "GET", "/metrics")).text;
    assert.match(metrics, /agent_webhooks_pending \d+/);
    assert.match(metrics, /agent_webhooks_total\{outcome="sent"\} [1-9]/);
    for (const thread of threads) assert.equal((await thread.get()).status, "idle");
  });

  test("more receivers that hang than there are turns do not hold up one that answers", async (t) => {
    const hanging = await Promise.all(Array.from({ length: 20 }, () => startWebhookReceiver({ "/": () => undefined })));
    const good = await startWebhookReceiver();
    const own = await startServerHere({ config, env, limits });
    t.after(async () => {
      await own.stop();
      for (const each of [good, ...hanging]) await each.close();
      removeFolder(own.dataDir);
    });
    const caller = new Client({ apiUrl: own.url, apiKey: null });
    const run = (webhook: string) => caller.runs.wait(null, "steps", { input: {}, webhook });
    await Promise.all(hanging.map(({ url }) => run(`${url}/`)));
    const failures = async (): Promise<string> =>
      /agent_webhooks_total\{outcome="failed"\} (\d+)/.exec((await call(own, "GET", "/metrics")).text)?.[1] ?? "0";
    const isFree: boolean[] = [];
    // A try that times out meanwhile makes room in any case, and shows nothing: one look without is enough.
    while (isFree.length < 5 && isFree.at(-1) !== true) {
      const before = await failures();
      await Promise.all(Array.from({ length: 10 }, () => run(`${good.url}/good`)));
      await good.came("/good", 10 * (isFree.length + 1));
      isFree.push((await failures()) === before);
    }
    assert.ok(isFree.at(-1), "it came only when a try to another receiver had ended");
  });

  test("an undelivered webhook from before a restart is sent after it", async () => {
    let isUp = false; // one receiver throughout: a port that is free for a moment may go to another test
    const receiver = await startWebhookReceiver({
      "/restart": (response) => void response.writeHead(isUp ? 200 : 503).end(),
    });
    const slow = { ...limits, webhookRetryMs: 400 };
    const one = await startServerHere({ config, env, limits: slow });
    const thread = await newThread(one, "steps");
    const run: WireRun = await thread.begin({ input: {}, webhook: `${receiver.url}/restart` });
    await one.whenLogged("a first try has failed", (logs) => logs.find(({ event }) => event === "webhook_failed"));
    assert.equal(await one.stop(), 0);
    isUp = true;
    const before = receiver.received.length;
    const two = await startServerHere({ config, env, limits: slow, dataDir: one.dataDir });
    const webhook = (await receiver.came("/restart", before + 1)).at(-1);
    assert.equal(webhook?.event.run_id, run.run_id);
    await two.stop();
    await receiver.close();
    removeFolder(two.dataDir);
  });
});

suite("addresses that are refused (agent/webhooks.4)", PATIENCE, () => {
  const REFUSED = [
    "http://example.com/",
    "https://localhost/x",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://[::1]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://10.0.0.1/",
    "https://user:password@example.com/",
    "/own/route",
    "not a URL",
    "",
    "ftp://example.com/",
  ];
  test("by default: everything but https to public addresses", async (t) => {
    const strict = await startServerHere();
    t.after(async () => {
      await strict.stop();
      removeFolder(strict.dataDir);
    });
    const thread = await newThread(strict, "steps");
    for (const webhook of REFUSED) {
      const paths = [
        `${thread.path}/runs`,
        `${thread.path}/runs/wait`,
        `${thread.path}/runs/stream`,
        "/runs",
        "/runs/wait",
        "/runs/stream",
      ];
      for (const path of paths) {
        const refused = await call(strict, "POST", path, { assistant_id: "steps", input: {}, webhook });
        assert.deepEqual([refused.status, readProblem(refused).code], [422, "webhook_refused"], `${path} ${webhook}`);
      }
      const batch = await call(strict, "POST", "/runs/batch", [{ assistant_id: "steps", input: {}, webhook }]);
      assert.equal(readProblem(batch).code, "webhook_refused");
    }
    assert.deepEqual(await thread.runs(), []);
    const canary = await call(strict, "POST", `${thread.path}/runs/wait`, {
      assistant_id: "steps",
      input: {},
      webhook: hook("/canary"),
    });
    assert.equal(canary.status, 422);
    assert.equal(receiver.received.filter(({ path }) => path === "/canary").length, 0);
  });

  test("a name with an internal address is detected at the connection, and the webhook is dropped", async (t) => {
    const http = configWith("names", { url: { require_https: false } });
    const names = await startServerHere({ config: http });
    t.after(async () => {
      await names.stop();
      removeFolder(names.dataDir);
    });
    const thread = await newThread(names, "steps");
    // A name that most hosts files have for ::1. Where they do not, it leads nowhere, which is as good.
    const run = await thread.begin({ input: {}, webhook: `http://ip6-localhost:${receiver.port}/canary` });
    const log = await names.whenLogged("it is given up or fails", (logs) =>
      logs.find(({ event, run_id }) => String(event).startsWith("webhook_") && run_id === run.run_id),
    );
    assert.match(String(log["reason"]), /which is not allowed|ENOTFOUND|EAI_AGAIN/);
    assert.equal(receiver.received.filter(({ path }) => path === "/canary").length, 0);
  });
});
