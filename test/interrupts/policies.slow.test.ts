// Policies: answers in advance, on a server with roles. Checked:
//   policies.1. A question that fits is answered in the commit that creates it, wherever it comes from: its graph goes
//     on, and the audit trail names the author, the channel `policy` and the policy.
//   policies.2. What a policy may not answer stays open: dangerous, four eyes, several approvals, excluded authors,
//     lost rights, policies that disagree, answers against the schema, an ended policy.
//   policies.3. Who may write, see and revoke; every writing and revocation is in the verified trail.
//   policies.4. An answer that is remembered: what it may say, and that a refusal changes nothing.
//   policies.5. A dry run says what people had decided.
//   policies.6. A pause that a policy ends at once ends no run in the queue whose `on_paused` is `reject`; one that waits
//     for a person does.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { call, removeFolder, temporaryFolder, type Answer } from "../harness/server.ts";
import { type ServerHere, startServerHere } from "../harness/server-here.ts";
import { readProblem, followLog, until } from "../harness/threads.ts";

const ADMIN = "the-long-key-of-the-admin";
const folder = temporaryFolder();
const config = join(folder, "langgraph.json");
const graphs = join(import.meta.dirname, "..", "graphs", "questions.ts");
const slow = join(import.meta.dirname, "..", "graphs", "failures.ts:slow");
writeFileSync(
  config,
  JSON.stringify({
    graphs: {
      ...Object.fromEntries(["echo", "parallel", "loop", "series"].map((name) => [name, `${graphs}:${name}`] as const)),
      slow,
    },
    policies: [{ action: "note", when: { "args.size": { lte: 10 } }, answer: "approve" }],
  }),
);
const server: ServerHere = await startServerHere({ config, env: { HOLDPOINT_API_KEYS: `root:${ADMIN}` } });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

type Body = Readonly<Record<string, unknown>>;

const send = (method: string, path: string, body?: unknown, key = ADMIN): Promise<Answer> =>
  call(server, method, path, body, { "x-api-key": key });

async function makeKey(
  name: string,
  role: string,
  more: object = {},
): Promise<{ readonly key: string; readonly id: string }> {
  const { body } = await send("POST", "/keys", { name, role, ...more });
  return { key: String(body["key"]), id: String(body["key_id"]) };
}

const operator = await makeKey("olga", "operator");
const reviewer = await makeKey("rita", "reviewer");

async function write(policy: object, key = operator.key): Promise<string> {
  const written = await send("POST", "/policies", policy, key);
  assert.equal(written.status, 201, written.text);
  return String(written.body["policy_id"]);
}

const revoke = (id: string, key = ADMIN): Promise<Answer> => send("DELETE", `/policies/${id}`, undefined, key);

interface Ran {
  readonly threadId: string;
  readonly body: Body;
}

async function run(graph: string, input: object, { key = ADMIN, metadata = {} } = {}): Promise<Ran> {
  const { body: thread } = await send("POST", "/threads", { metadata }, key);
  const threadId = String(thread["thread_id"]);
  const { body } = await send("POST", `/threads/${threadId}/runs/wait`, { assistant_id: graph, input }, key);
  return { threadId, body };
}

const tool = (name: string, args: object, more: object = {}): object => ({
  action_requests: [{ name, args }],
  ...more,
});

async function settled(threadId: string): Promise<Body> {
  for (;;) {
    const { body } = await send("GET", `/threads/${threadId}`);
    if (body["status"] !== "busy") return body;
    const { body: runs }: { readonly body: readonly Body[] } = await send("GET", `/threads/${threadId}/runs`);
    const active = runs.find(({ status }) => status === "running" || status === "pending");
    if (active !== undefined) await send("GET", `/threads/${threadId}/runs/${String(active["run_id"])}/join`);
  }
}

async function trail(threadId: string): Promise<readonly Body[]> {
  const { body }: { readonly body: { readonly items: readonly Body[] } } = await send(
    "GET",
    `/threads/${threadId}/audit?limit=1000`,
  );
  return body.items;
}

/** Asks, and says what became of the question. */
async function statusAfter(payload: unknown, options: object = {}): Promise<unknown> {
  const { threadId } = await run("echo", { payload }, options);
  return (await settled(threadId))["status"];
}

let count = 0;
const uniqueName = (): string => `tool_${++count}`;

suite("questions that fit (policies.1)", () => {
  test("the question of a graph is answered by the author, by the policy, once", async () => {
    const name = uniqueName();
    const id = await write({ action: name, when: { "args.amount": { lte: 50 } }, answer: "approve" });
    const { threadId, body } = await run("echo", { payload: tool(name, { amount: 20 }) });
    assert.ok(body["__interrupt__"] !== undefined, "the run that asked ended with its question");
    const thread = await settled(threadId);
    assert.equal(thread["status"], "idle");
    assert.deepEqual((thread["values"] as Body)["answer"], [{ decisions: [{ type: "approve" }] }]);
    const entries = await trail(threadId);
    assert.deepEqual(
      entries.map(({ action, by, via, policy_id }) => ({ action, by, via, policy_id })),
      [{ action: "answered", by: "olga", via: "policy", policy_id: id }],
    );
    assert.equal(await statusAfter(tool(name, { amount: 51 })), "interrupted");
  });

  test("all questions of one step, and those of a run that a policy resumed", async () => {
    const id = await write({ when: { graph: { in: ["parallel", "series"] } }, answer: { value: "yes" } });
    for (const [graph, answers] of [
      ["parallel", 3],
      ["series", 4],
    ] as const) {
      const { threadId } = await run(graph, {});
      assert.equal((await settled(threadId))["status"], "idle");
      assert.equal((await trail(threadId)).filter(({ via }) => via === "policy").length, answers);
    }
    await revoke(id);
  });

  test("one of three questions of a step: the others stay open, and are asked of people", async () => {
    const id = await write({ when: { graph: "parallel", "payload.from": "lion" }, answer: { value: 1 } });
    const { threadId } = await run("parallel", {});
    const items = await followLog(server, "the others are open", async () => {
      const { body } = await send("GET", `/inbox?thread_id=${threadId}&values=true`);
      const list = body["items"] as readonly { readonly value: { readonly from: string } }[];
      return list.length === 2 ? list : undefined;
    });
    assert.deepEqual(items.map(({ value }) => value.from).toSorted(), ["ape", "zebra"]);
    await revoke(id);
  });

  test("a request of a program is answered by its metadata before the reply", async () => {
    await write({ when: { "metadata.service": "shop", payload: "Deploy?" }, answer: { value: "yes" } });
    const asked = await send("POST", "/requests", { payload: "Deploy?", metadata: { service: "shop" } });
    assert.equal(asked.status, 201, asked.text);
    const { body } = await send("GET", `/requests/${String(asked.body["request_id"])}?wait=20`);
    assert.equal(body["status"], "answered");
    assert.equal(body["answer"], "yes");
    assert.equal(body["answered_by"], "olga");
    const other = await send("POST", "/requests", { payload: "Deploy?", metadata: { service: "bank" } });
    assert.equal(other.body["status"], "open");
  });

  test("a policy of langgraph.json answers in the name of the file, is listed, and cannot be revoked", async () => {
    const { threadId } = await run("echo", { payload: tool("note", { size: 3 }) });
    assert.equal((await settled(threadId))["status"], "idle");
    assert.equal((await trail(threadId))[0]?.["by"], "langgraph.json");
    const { body } = await send("GET", "/policies");
    const [first] = body["policies"] as readonly Body[];
    assert.equal(first?.["source"], "langgraph.json");
    assert.equal(readProblem(await revoke(String(first?.["policy_id"]))).code, "policy_fixed");
  });

  test("a graph that asks for ever meets a person after 100 answers in a row", async () => {
    const id = await write({ when: { graph: "loop" }, answer: { value: "more" } });
    const { threadId } = await run("loop", {});
    assert.equal((await settled(threadId))["status"], "interrupted");
    assert.equal((await trail(threadId)).length, 100);
    await revoke(id);
  });
});

suite("questions that stay open (policies.2)", () => {
  const guarded: readonly (readonly [string, object, string])[] = [
    ["a dangerous one", { dangerous: true }, "idle"],
    ["one for people only", { audience: "human" }, "idle"],
    ["one with four eyes", { review_rules: { four_eyes: true } }, "interrupted"],
    ["one with two approvals", { review_rules: { approvals: 2 } }, "interrupted"],
  ];
  for (const [name, more, forRoot] of guarded)
    test(`${name} is not answered by an operator's policy; by an administrator's: ${forRoot}`, async () => {
      const action = uniqueName();
      const id = await write({ action, answer: "approve" });
      assert.equal(await statusAfter(tool(action, {}, more)), "interrupted");
      await revoke(id);
      await write({ action, answer: "approve" }, ADMIN);
      assert.equal(await statusAfter(tool(action, {}, more)), forRoot, "the administrator also started the run");
    });

  test("four eyes: an administrator's policy answers the question of somebody else, and not the own", async () => {
    const action = uniqueName();
    await write({ action, answer: "approve" }, ADMIN);
    const payload = tool(action, {}, { review_rules: { four_eyes: true } });
    assert.equal(await statusAfter(payload, { key: operator.key }), "idle");
    assert.equal(await statusAfter(payload), "interrupted");
  });

  test("several approvals: an administrator's policy is one vote, and a person completes it", async () => {
    const action = uniqueName();
    await write({ action, answer: "approve" }, ADMIN);
    const { threadId } = await run("echo", { payload: tool(action, {}, { review_rules: { approvals: 2 } }) });
    const { body } = await send("GET", `/inbox?thread_id=${threadId}`);
    const [open] = body["items"] as readonly Body[];
    assert.deepEqual((open?.["review"] as { readonly approvals: object } | undefined)?.approvals, {
      given: 1,
      needed: 2,
    });
    const answer = { thread_id: threadId, interrupt_id: open?.["id"], resume: { decisions: [{ type: "approve" }] } };
    const own = await send("POST", "/inbox/answers", [answer]);
    assert.equal((own.body["results"] as readonly Body[])[0]?.["status"], "pending", "the author has one vote");
    const other = await send("POST", "/inbox/answers", [answer], reviewer.key);
    assert.equal((other.body["results"] as readonly Body[])[0]?.["status"], "answered", other.text);
    assert.deepEqual(
      (await trail(threadId)).map(({ action: done, by, via }) => [done, by, via]),
      [
        ["voted", "root", "policy"],
        ["answered", "rita", "inbox"],
      ],
    );
  });

  test("an author who is excluded, or not assigned, does not answer", async () => {
    const action = uniqueName();
    await write({ action, answer: "approve" });
    for (const rules of [{ exclude: ["olga"] }, { assignees: ["rita"] }])
      assert.equal(await statusAfter(tool(action, {}, { review_rules: rules })), "interrupted");
    assert.equal(await statusAfter(tool(action, {}, { review_rules: { assignees: ["olga"] } })), "idle");
  });

  test("the policy of a revoked key, and of a key without the role, answers no more", async () => {
    const action = uniqueName();
    const gone = await makeKey("gone", "operator");
    const id = await write({ action, answer: "approve" }, gone.key);
    assert.equal(await statusAfter(tool(action, {})), "idle");
    await send("DELETE", `/keys/${gone.id}`);
    assert.equal(await statusAfter(tool(action, {})), "interrupted");
    await makeKey("gone", "reviewer");
    assert.equal(await statusAfter(tool(action, {})), "interrupted");
    await revoke(id);
  });

  test("policies that disagree answer nothing; those that agree answer once", async () => {
    const action = uniqueName();
    await write({ action, answer: "approve" });
    await write({ action, answer: { value: { decisions: [{ type: "approve" }] } } });
    const { threadId } = await run("echo", { payload: tool(action, {}) });
    assert.equal((await settled(threadId))["status"], "idle");
    assert.equal((await trail(threadId)).length, 1);
    await write({ action, answer: "reject" });
    assert.equal(await statusAfter(tool(action, {})), "interrupted");
  });

  test("an answer against the schema leaves its question open, and answers its sibling", async () => {
    const action = uniqueName();
    await write({ action, answer: { value: "no decision" } });
    const { threadId } = await run("echo", { payload: tool(action, {}) });
    assert.equal((await settled(threadId))["status"], "interrupted");
    assert.deepEqual(await trail(threadId), []);
    const request = { payload: uniqueName(), response_schema: { type: "number" } };
    await write({ when: { payload: request.payload }, answer: { value: "5" } });
    assert.equal((await send("POST", "/requests", request)).body["status"], "open");
  });

  test("a revoked policy, and one that has ended", async () => {
    const action = uniqueName();
    const id = await write({ action, answer: "approve" });
    assert.equal((await revoke(id)).status, 204);
    assert.equal(readProblem(await revoke(id)).code, "policy_not_found");
    const soon = Date.now() + 1500;
    await write({ action, answer: "approve", until: new Date(soon).toISOString() });
    await until("the policy has ended", async () => {
      const { body } = await send("GET", "/policies");
      const left = (body["policies"] as readonly Body[]).some(({ when }) =>
        JSON.stringify(when).includes(`"${action}"`),
      );
      return left ? undefined : true;
    });
    assert.equal(await statusAfter(tool(action, {})), "interrupted");
  });

  test("an author with limits answers only the threads that the limits reach", async () => {
    const action = uniqueName();
    const limited = await makeKey("limited", "operator", { metadata: { team: "a" } });
    await write({ action, answer: "approve" }, limited.key);
    assert.equal(await statusAfter(tool(action, {}), { metadata: { team: "b" } }), "interrupted");
    assert.equal(await statusAfter(tool(action, {}), { metadata: { team: "a" } }), "idle");
    const { body } = await send("GET", "/policies", undefined, limited.key);
    const authors = (body["policies"] as readonly Body[]).map(({ created_by }) => created_by);
    assert.deepEqual(new Set(authors), new Set(["langgraph.json", "limited"]));
  });
});

suite("rights and trail (policies.3)", () => {
  test("a reviewer reads policies, and writes and revokes none", async () => {
    const policy = { action: uniqueName(), answer: "approve" };
    const id = await write(policy);
    assert.equal((await send("GET", "/policies", undefined, reviewer.key)).status, 200);
    assert.equal((await send("POST", "/policies/dry-run", policy, reviewer.key)).status, 200);
    assert.equal(readProblem(await send("POST", "/policies", policy, reviewer.key)).code, "forbidden");
    assert.equal(readProblem(await revoke(id, reviewer.key)).code, "forbidden");
  });

  const malformed: readonly (readonly [string, object, string])[] = [
    ["an unknown member", { action: "x", answer: "approve", wen: {} }, "invalid_request"],
    ["an unknown operator", { when: { "args.x": { ne: 1 } }, answer: "approve" }, "policy_invalid"],
    ["no condition", { answer: "approve" }, "policy_invalid"],
    ["an end in the past", { action: "x", answer: "approve", until: "2020-01-01T00:00:00Z" }, "policy_invalid"],
    ["an end without a zone", { action: "x", answer: "approve", until: "2099-01-01T00:00:00" }, "invalid_request"],
  ];
  for (const [name, body, code] of malformed)
    test(`${name} is 422 ${code}`, async () => {
      for (const path of ["/policies", "/policies/dry-run"]) {
        const reply = await send("POST", path, body, operator.key);
        assert.deepEqual([reply.status, readProblem(reply).code], [422, code]);
      }
    });

  test("writing and revocation stand in the trail, which verifies", async () => {
    const id = await write({ action: uniqueName(), answer: "approve" });
    await revoke(id);
    const { body } = await send("GET", `/audit?thread_id=${id}&action=policy_written,policy_revoked`);
    assert.deepEqual(
      (body["items"] as readonly Body[]).map(({ action, by }) => [action, by]),
      [
        ["policy_revoked", "root"],
        ["policy_written", "olga"],
      ],
    );
    const verified = await send("GET", "/audit/verify");
    assert.equal(verified.body["intact"], true, verified.text);
  });
});

suite("remembered answers (policies.4)", () => {
  async function open(payload: unknown, metadata: object = {}): Promise<Body> {
    const { threadId } = await run("echo", { payload }, { metadata });
    const { body } = await send("GET", `/inbox?thread_id=${threadId}`);
    const [one] = body["items"] as readonly Body[];
    return { thread_id: threadId, interrupt_id: one?.["id"] };
  }
  const approve = { decisions: [{ type: "approve" }] };

  async function answer(
    given: object,
    key = operator.key,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Body> {
    const reply = await call(server, "POST", "/inbox/answers", [given], { "x-api-key": key, ...headers });
    assert.equal(reply.status, 200, reply.text);
    const [result] = reply.body["results"] as readonly Body[];
    return result ?? {};
  }

  test("answers the later questions of its action and its scope", async () => {
    const action = uniqueName();
    const asked = await open(tool(action, { amount: 5 }), { team: "a" });
    const remember = { scope: "metadata", match: { when: { "args.amount": { lte: 10 }, "metadata.team": "a" } } };
    assert.equal((await answer({ ...asked, resume: approve, remember }))["status"], "answered");
    assert.equal(await statusAfter(tool(action, { amount: 9 }), { metadata: { team: "a" } }), "idle");
    assert.equal(await statusAfter(tool(action, { amount: 9 }), { metadata: { team: "b" } }), "interrupted");
    assert.equal(await statusAfter(tool(action, { amount: 11 }), { metadata: { team: "a" } }), "interrupted");
    assert.equal(await statusAfter(tool(uniqueName(), { amount: 1 }), { metadata: { team: "a" } }), "interrupted");
  });

  test("a repeated call writes one policy, also after its revocation", async () => {
    const action = uniqueName();
    const given = { ...(await open(tool(action, {}))), resume: approve, remember: { scope: "assistant", match: {} } };
    const key = { "idempotency-key": `remember ${action}` };
    const list = async (): Promise<readonly Body[]> => {
      const { body } = await send("GET", "/policies");
      return (body["policies"] as readonly Body[]).filter(({ when }) => JSON.stringify(when).includes(`"${action}"`));
    };
    const first = await answer(given, operator.key, key);
    assert.deepEqual(await answer(given, operator.key, key), first);
    const [only, ...more] = await list();
    assert.deepEqual(more, []);
    await revoke(String(only?.["policy_id"]));
    assert.deepEqual(await answer(given, operator.key, key), first);
    assert.deepEqual(await list(), []);
  });

  test("a request takes it with its answer, and other threads of its scope are answered", async () => {
    const payload = uniqueName();
    const asked = await send("POST", "/requests", { payload });
    const path = `/requests/${String(asked.body["request_id"])}/answer`;
    const remember = { scope: "assistant", match: { payload } };
    const strict = await send("POST", path, { answer: "yes", remember: { ...remember, forever: true } }, operator.key);
    assert.deepEqual([strict.status, readProblem(strict).code], [422, "invalid_request"]);
    const answered = await send("POST", path, { answer: "yes", remember }, operator.key);
    assert.equal(answered.body["status"], "answered", answered.text);
    const later = await send("POST", "/requests", { payload });
    assert.equal(later.body["answer"], "yes", later.text);
  });

  const edit = (name: string): object => ({
    decisions: [{ type: "edit", edited_action: { name, args: { amount: 1 } } }],
  });
  const refused: readonly (readonly [string, (name: string) => object, string, string?])[] = [
    ["of a reviewer", () => ({ remember: { scope: "assistant", match: {} } }), "forbidden", reviewer.key],
    ["of an edit", (name) => ({ resume: edit(name), remember: { scope: "assistant", match: {} } }), "policy_invalid"],
    [
      "that does not fit its own question",
      () => ({ remember: { scope: "thread", match: { "args.amount": { gt: 5 } } } }),
      "policy_invalid",
    ],
    ["without metadata in its scope", () => ({ remember: { scope: "metadata", match: {} } }), "policy_invalid"],
    [
      "with an unknown operator",
      () => ({ remember: { scope: "thread", match: { "args.amount": { near: 5 } } } }),
      "policy_invalid",
    ],
    [
      "with the action of another tool",
      () => ({ remember: { scope: "thread", match: { action: "x" } } }),
      "policy_invalid",
    ],
  ];
  for (const [name, given, code, key] of refused)
    test(`an answer ${name} is refused with ${code}, and the question stays open`, async () => {
      const action = uniqueName();
      const asked = await open(tool(action, { amount: 5 }));
      const result = await answer({ ...asked, resume: approve, ...given(action) }, key);
      assert.equal((result["problem"] as Body | undefined)?.["code"], code, JSON.stringify(result));
      assert.equal((await settled(String(asked["thread_id"])))["status"], "interrupted");
    });
});

test("a dry run counts what people had decided (policies.5)", async () => {
  const action = uniqueName();
  const decisions = [
    [10, "approve"],
    [20, "approve"],
    [30, "reject"],
    [99, "approve"],
  ] as const;
  for (const [amount, type] of decisions) {
    const { threadId } = await run("echo", { payload: tool(action, { amount }) });
    const { body } = await send("GET", `/inbox?thread_id=${threadId}`);
    const [one] = body["items"] as readonly Body[];
    const resume = { decisions: [{ type }] };
    await send("POST", "/inbox/answers", [{ thread_id: threadId, interrupt_id: one?.["id"], resume }], reviewer.key);
  }
  const rule = { action, when: { "args.amount": { lte: 50 } }, answer: "approve" };
  const { body } = await send("POST", "/policies/dry-run", rule, reviewer.key);
  assert.deepEqual([body["answered"], body["approved"], body["same"]], [3, 2, 2]);
  assert.match(String(body["text"]), /this rule would have answered 3, people had approved 2\.$/);
  assert.deepEqual(
    (body["others"] as readonly Body[]).map(({ by }) => by),
    ["rita"],
  );
});

test("runs in the queue behind a pause that a policy ends, and behind one that waits (policies.6)", async () => {
  const gate = join(folder, "gate");
  const { body: thread } = await send("POST", "/threads", {});
  const path = `/threads/${String(thread["thread_id"])}/runs`;
  const begin = async (assistant: string, input: object, more: object = {}): Promise<string> =>
    String((await send("POST", path, { assistant_id: assistant, input, ...more })).body["run_id"]);
  await begin("slow", { gate });
  const ids = [
    await begin("echo", { payload: tool("note", { size: 1 }) }),
    await begin("echo", { payload: "go on?" }, { on_paused: "reject" }),
    await begin("echo", {}, { on_paused: "reject" }),
  ];
  writeFileSync(gate, "");
  for (const id of ids) await send("GET", `${path}/${id}/join`);
  const ended = await Promise.all(ids.map(async (id) => (await send("GET", `${path}/${id}`)).body["ended_by"]));
  assert.deepEqual(ended, ["pause", "pause", "failure"]);
});
