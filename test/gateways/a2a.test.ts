// A2A: agents as peers of the official client, in version 1.0 and in 0.3. Checked:
//   a2a.1. A message starts a task, which ends with the agent's text and values as an artifact; text streams.
//   a2a.2. A pause is input-required, with the question as a data part and a link; a message answers it.
//   a2a.3. Every question dialect is answered by fields and by its raw answer.
//   a2a.4. A question for people only is never answered by the calling agent.
//   a2a.5. Of two answers one counts, and the other side learns who answered. A repeated message counts once.
//   a2a.6. The audit trail names A2A.
//   a2a.7. Tasks and their history are the same after a kill, and include answers from elsewhere.
//   a2a.8. The card names the ways in; without credentials it tells nothing about the assistant.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Part, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import {
  answerTo,
  connect as connectTo,
  data,
  get,
  message,
  type Place,
  questions,
  send,
  sending,
  readState,
  text,
  joinTexts,
  values,
  type Version,
  VERSIONS,
} from "./a2a-client.ts";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";

const server = await startServerHere({});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const connect = (assistant: string, version: Version = "1.0", place: Place = server): Promise<Client> =>
  connectTo(assistant, version, place);

async function answeredVia(threadId: string): Promise<unknown> {
  const { body } = await call(server, "GET", `/threads/${threadId}/audit`);
  const { items } = body as { readonly items: readonly { readonly action: string; readonly via: string }[] };
  return items.find(({ action }) => action === "answered")?.via;
}

async function inboxAnswer(thread_id: string, interrupt_id: string | undefined, resume: unknown): Promise<void> {
  const { body } = await call(server, "POST", "/inbox/answers", [{ thread_id, interrupt_id, resume }]);
  const { results } = body as { readonly results: readonly { readonly status: string }[] };
  assert.equal(results[0]?.status, "answered");
}

const QUESTION = [data({ payload: "How many?" })];
const tool = (name: string, args: object) => ({
  action_request: { action: name, args },
  config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true },
  description: "Pays.",
});

const APPROVAL = [tool("pay", { n: 1 })];
const MIDDLEWARE = { action_requests: [{ name: "pay", args: { n: 1 } }], review_configs: [] };
const TWO = { actionRequests: ["pay", "log"].map((name) => ({ name, args: {} })), reviewConfigs: [] };
const FORM = { type: "object", properties: { n: { type: "integer" }, ok: { type: "boolean" } }, required: ["n"] };
const NESTED = { type: "object", properties: { a: { type: "object", properties: { b: { type: "string" } } } } };

/** Payload of interrupt() → part that answers → answer that the node gets. */
const DIALECTS: Readonly<Record<string, readonly [payload: unknown, said: Part, answer: unknown]>> = {
  "a plain question, by a text": ["How many?", text("three"), "three"],
  "a plain question, by a field": ["How many?", data({ answer: "3" }), "3"],
  "a plain question, by its raw answer": ["How many?", data({ resume: { n: 3 } }), { n: 3 }],
  "a form of primitives": [{ response_schema: FORM }, data({ n: 3, ok: true }), { n: 3, ok: true }],
  "a form of primitives, by a text in JSON": [{ response_schema: FORM }, text('{"n":3}'), { n: 3 }],
  "one value with a schema, by a text": [{ response_schema: { type: "number", minimum: 1 } }, text("2"), 2],
  "a choice with titles": [
    {
      response_schema: {
        oneOf: [
          { const: "a", title: "First" },
          { const: "b", title: "Second" },
        ],
      },
    },
    data({ answer: "b" }),
    "b",
  ],
  "a choice": [{ response_schema: { enum: ["a", "b"] } }, data({ answer: "b" }), "b"],
  "an answer that fits no flat form": [{ response_schema: NESTED }, data({ a: { b: "x" } }), { a: { b: "x" } }],
  "human_interrupt, approved by a text": [
    APPROVAL,
    text("approve"),
    [{ type: "accept", args: { action: "pay", args: { n: 1 } } }],
  ],
  "human_interrupt, edited": [
    APPROVAL,
    data({ decision: "edit", arguments: '{"n":2}' }),
    [{ type: "edit", args: { action: "pay", args: { n: 2 } } }],
  ],
  "human_interrupt, a text that only begins like a decision": [
    APPROVAL,
    text("approve, but pay 2"),
    [{ type: "response", args: "approve, but pay 2" }],
  ],
  "middleware, rejected by a text": [
    MIDDLEWARE,
    text("reject: no"),
    { decisions: [{ type: "reject", message: "no" }] },
  ],
  "middleware in camel case, two actions": [
    TWO,
    data({ decision_1: "approve", decision_2: "reject" }),
    { decisions: [{ type: "approve" }, { type: "reject" }] },
  ],
};

for (const version of VERSIONS) {
  test(`version ${version}: a message starts a task, which ends with text and values (a2a.1)`, async () => {
    const client = await connect("teller", version);
    const task = await send(client, [text("hello")]);
    assert.equal(readState(task), TaskState.TASK_STATE_COMPLETED, JSON.stringify(task));
    const [result, ...more] = task.artifacts;
    assert.deepEqual([result?.name, more.length], ["result", 0]);
    assert.notEqual(joinTexts(result?.parts ?? []), "");
    assert.deepEqual(
      task.history.map(({ role, parts }) => [role, joinTexts(parts)]),
      [[Role.ROLE_USER, "hello"]],
    );
    assert.deepEqual(await get(client, task), task);
    const next = await send(client, [text("again")], { contextId: task.contextId });
    assert.deepEqual([next.contextId, next.id === task.id], [task.contextId, false]);
    assert.deepEqual(await get(client, task), task, "a later task of the context changes no earlier one");
  });

  test(`version ${version}: a stream has the state, text as it arrives, and the end (a2a.1)`, async () => {
    const client = await connect("teller", version);
    const seen: StreamResponse[] = [];
    for await (const event of client.sendMessageStream(sending(message([text("hello")])))) seen.push(event);
    const kinds = seen.map(({ payload }) => payload?.$case);
    assert.deepEqual([kinds[0], kinds.at(-1)], ["task", "statusUpdate"]);
    let streamed = "";
    for (const { payload } of seen) {
      if (payload?.$case !== "artifactUpdate") continue;
      const piece = joinTexts(payload.value.artifact?.parts ?? []);
      streamed = payload.value.append ? streamed + piece : piece;
    }
    const [{ payload: first } = {}] = seen;
    assert.equal(first?.$case, "task");
    const task = await get(client, first.value);
    assert.equal(streamed, joinTexts(task.artifacts[0]?.parts ?? []));
    assert.ok(kinds.filter((kind) => kind === "artifactUpdate").length > 1, kinds.join());
  });

  for (const how of ["a message", "a streamed message", "the inbox"] as const)
    test(`version ${version}: text streams after an answer by ${how}, too (a2a.1)`, async () => {
      const client = await connect("asks_then_speaks", version);
      const gate = join(server.dataDir, `gate-${version}-${how}`);
      const paused = await send(client, [text("hello"), data({ gate })]);
      const subscribed = client.resubscribeTask({ tenant: "", id: paused.id });
      await subscribed.next(); // the paused task
      const streams = [subscribed];
      const texts = async (stream: AsyncIterable<StreamResponse>): Promise<readonly string[]> => {
        const found: string[] = [];
        for await (const { payload } of stream)
          if (payload?.$case === "artifactUpdate" && !payload.value.lastChunk)
            found.push(joinTexts(payload.value.artifact?.parts ?? []));
        return found;
      };
      const answering = sending(message([text("yes")], answerTo(paused)));
      if (how === "a streamed message") streams.push(client.sendMessageStream(answering));
      const sent = how === "a message" ? client.sendMessage(answering) : null;
      if (how === "the inbox") await inboxAnswer(paused.contextId, questions(paused)[0]?.interrupt_id, "yes");
      for (const stream of streams.toReversed()) await stream.next(); // the task works, up to the gate
      writeFileSync(gate, "");
      await sent;
      for (const pieces of await Promise.all(streams.map(texts))) assert.equal(pieces.join(""), "Hi!");
    });

  for (const [title, [payload, said, answer]] of Object.entries(DIALECTS)) {
    test(`version ${version}: ${title} (a2a.2, a2a.3)`, async () => {
      const client = await connect("echo", version);
      const paused = await send(client, [data({ payload })]);
      assert.equal(readState(paused), TaskState.TASK_STATE_INPUT_REQUIRED);
      const [asked] = questions(paused);
      assert.equal(asked?.link, `${server.url}/console/inbox/${paused.contextId}/${asked?.interrupt_id}`);
      assert.deepEqual(asked.value, payload);
      const ended = await send(client, [said], answerTo(paused));
      assert.equal(ended.id, paused.id);
      assert.equal(readState(ended), TaskState.TASK_STATE_COMPLETED, JSON.stringify(ended));
      assert.deepEqual(values(ended)["answer"], [answer]);
      assert.equal(await answeredVia(ended.contextId), "a2a"); // a2a.6
      assert.deepEqual(
        ended.history.map(({ role }) => role),
        [Role.ROLE_USER, Role.ROLE_AGENT, Role.ROLE_USER],
      );
    });
  }

  test(`version ${version}: a refused answer leaves the task open, with the reason (a2a.2)`, async () => {
    const client = await connect("schema", version);
    const paused = await send(client, QUESTION);
    const refused = await send(client, [data({ approved: "perhaps" })], answerTo(paused));
    assert.equal(readState(refused), TaskState.TASK_STATE_INPUT_REQUIRED);
    assert.match(joinTexts(refused.status?.message?.parts ?? []), /approved/);
    const ended = await send(client, [data({ approved: true })], answerTo(paused));
    assert.deepEqual(values(ended)["answer"], { approved: true });
  });

  test(`version ${version}: an answer that the graph rejects is asked again, with the reason (a2a.2)`, async () => {
    const client = await connect("refined", version);
    const paused = await send(client, QUESTION);
    const refused = await send(client, [text("3")], answerTo(paused));
    assert.equal(readState(refused), TaskState.TASK_STATE_INPUT_REQUIRED);
    assert.match(joinTexts(refused.status?.message?.parts ?? []), /not an even number/);
    const ended = await send(client, [text("4")], answerTo(paused));
    assert.deepEqual(values(ended)["answer"], 4);
  });

  test(`version ${version}: several open questions are answered by interrupt id (a2a.2)`, async () => {
    const client = await connect("parallel", version);
    const paused = await send(client, [data({ notes: "" })]);
    const open = questions(paused);
    assert.equal(open.length, 3);
    const unclear = await send(client, [text("yes")], answerTo(paused));
    assert.match(joinTexts(unclear.status?.message?.parts ?? []), /interrupt_id/);
    const [first, ...rest] = open;
    const partly = await send(client, [data({ interrupt_id: first?.interrupt_id, answer: "1" })], answerTo(paused));
    assert.deepEqual([readState(partly), questions(partly).length], [TaskState.TASK_STATE_INPUT_REQUIRED, 2]);
    const answers = rest.map(({ interrupt_id }) => data({ interrupt_id, answer: "2" }));
    const ended = await send(client, answers, answerTo(paused));
    assert.equal(readState(ended), TaskState.TASK_STATE_COMPLETED);
    assert.equal((values(ended)["done"] as readonly string[]).length, 4);
  });

  test(`version ${version}: a question for people only is refused to the agent, and the inbox answers it (a2a.4)`, async () => {
    const client = await connect("echo", version);
    const paused = await send(client, [data({ payload: { audience: "human", question: "Pay?" } })]);
    const [asked] = questions(paused);
    assert.equal(asked?.people_only, true);
    for (const said of [text("yes"), data({ interrupt_id: asked.interrupt_id, resume: true })]) {
      const refused = await send(client, [said], answerTo(paused));
      assert.equal(readState(refused), TaskState.TASK_STATE_INPUT_REQUIRED);
      assert.match(joinTexts(refused.status?.message?.parts ?? []), /Only a person/);
    }
    await assert.rejects(send(client, [data({ payload: 1 })], { contextId: paused.contextId }), /taskId/);
    await inboxAnswer(paused.contextId, asked.interrupt_id, "yes");
    const ended = await client.getTask({ tenant: "", id: paused.id });
    assert.ok([TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED].includes(readState(ended) ?? 0));
  });

  test(`version ${version}: of two clients that answer, one wins and the other learns who (a2a.5)`, async () => {
    const [one, other] = [await connect("echo", version), await connect("echo", version)];
    const paused = await send(one, QUESTION);
    const both = [send(one, [text("one")], answerTo(paused)), send(other, [text("other")], answerTo(paused))];
    const results = await Promise.allSettled(both);
    const lost = results.filter((result) => result.status === "rejected");
    assert.equal(lost.length, 1, JSON.stringify(results));
    assert.match(String(lost[0]?.reason), /was already answered by/);
    const ended = await get(one, paused);
    assert.deepEqual(values(ended)["answer"], [results[0]?.status === "fulfilled" ? "one" : "other"]);
  });

  test(`version ${version}: a repeated message counts once (a2a.5)`, async () => {
    const client = await connect("echo", version);
    const first = message(QUESTION);
    const paused = (await client.sendMessage(sending(first))) as Task;
    const again = (await client.sendMessage(sending(first))) as Task;
    assert.equal(again.id, paused.id);
    const answer = message([text("3")], answerTo(paused));
    const ended = (await client.sendMessage(sending(answer))) as Task;
    assert.deepEqual(await client.sendMessage(sending(answer)), ended);
  });

  test(`version ${version}: a reader that subscribes follows the answer of somebody else (a2a.7)`, async () => {
    const client = await connect("echo", version);
    const paused = await send(client, QUESTION);
    const states: (TaskState | undefined)[] = [];
    for await (const { payload } of client.resubscribeTask({ tenant: "", id: paused.id })) {
      if (payload?.$case === "task") {
        states.push(readState(payload.value));
        await inboxAnswer(paused.contextId, questions(paused)[0]?.interrupt_id, "inbox");
      } else if (payload?.$case === "statusUpdate") states.push(payload.value.status?.state);
    }
    assert.deepEqual([states[0], states.at(-1)], [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_COMPLETED]);
    await assert.rejects(client.resubscribeTask({ tenant: "", id: paused.id }).next(), /has ended/);
  });

  test(`version ${version}: a cancelled task is over, running or waiting (a2a.2)`, async () => {
    const client = await connect("echo", version);
    const paused = await send(client, QUESTION);
    const cancelled = await client.cancelTask({ tenant: "", id: paused.id, metadata: undefined });
    assert.equal(readState(cancelled), TaskState.TASK_STATE_CANCELED);
    await assert.rejects(send(client, [text("3")], answerTo(paused)), /waits for no answer/);
    await assert.rejects(client.cancelTask({ tenant: "", id: paused.id, metadata: undefined }), /is over/);
    const slow = await connect("hanging", version);
    const stream = slow.sendMessageStream(sending(message([data({ notes: "" })])));
    const { value } = await stream.next();
    assert.equal(value?.payload?.$case, "task");
    const id = value.payload.value.id;
    const ended = await slow.cancelTask({ tenant: "", id, metadata: undefined });
    assert.equal(readState(ended), TaskState.TASK_STATE_CANCELED);
    let last: TaskState | undefined;
    for await (const { payload } of stream) if (payload?.$case === "statusUpdate") last = payload.value.status?.state;
    assert.equal(last, TaskState.TASK_STATE_CANCELED);
  });
}

test("a payload with auth_required is auth-required, and continues with an answer (a2a.2)", async () => {
  const client = await connect("echo");
  const paused = await send(client, [data({ payload: { auth_required: { scheme: "bearer" }, question: "Token?" } })]);
  assert.equal(readState(paused), TaskState.TASK_STATE_AUTH_REQUIRED);
  const ended = await send(client, [data({ answer: "done" })], answerTo(paused));
  assert.equal(readState(ended), TaskState.TASK_STATE_COMPLETED);
});

test("a task of another assistant is not found at the address of this one (a2a.1)", async () => {
  const paused = await send(await connect("echo"), QUESTION);
  const other = await connect("schema");
  await assert.rejects(get(other, paused), /no task/);
  await assert.rejects(send(other, [text("3")], answerTo(paused)), /no task/);
});

test("an unknown version is refused, and an unknown method (a2a.1)", async () => {
  const ask = async (method: string, version: string): Promise<unknown> => {
    const request = { jsonrpc: "2.0", id: 1, method, params: {} };
    const { body } = await call(server, "POST", "/a2a/echo", request, { "a2a-version": version });
    return (body as { readonly error: { readonly code: number } }).error.code;
  };
  assert.deepEqual([await ask("ListTasks", "2.0"), await ask("Nothing", "1.0")], [-32009, -32601]);
});

test("a run that fails is a failed task with its reason (a2a.1)", async () => {
  const task = await send(await connect("failing"), [data({ notes: "" })]);
  assert.equal(readState(task), TaskState.TASK_STATE_FAILED);
  assert.notEqual(joinTexts(task.status?.message?.parts ?? []), "");
});

test("files and texts are content of the message, data are members of the input (a2a.1)", async () => {
  const client = await connect("teller");
  const file: Part = {
    content: { $case: "raw", value: Buffer.from("pixels") },
    metadata: undefined,
    filename: "a.png",
    mediaType: "image/png",
  };
  const link: Part = {
    content: { $case: "url", value: "https://files.example/b.pdf" },
    metadata: undefined,
    filename: "b.pdf",
    mediaType: "application/pdf",
  };
  const sent = [text("Look"), file, link];
  const task = await send(client, sent);
  const { body } = await call(server, "GET", `/threads/${task.contextId}/state`);
  const { messages } = (body as { readonly values: { readonly messages: readonly { readonly content: unknown }[] } })
    .values;
  assert.deepEqual(messages[0]?.content, [
    { type: "text", text: "Look" },
    {
      type: "image",
      data: Buffer.from("pixels").toString("base64"),
      mimeType: "image/png",
      metadata: { filename: "a.png" },
    },
    { type: "file", url: "https://files.example/b.pdf", mimeType: "application/pdf", metadata: { filename: "b.pdf" } },
  ]);
  const [first] = (await get(client, task)).history;
  assert.deepEqual(
    first?.parts.map(({ content, filename, mediaType }) => [content?.$case, filename, mediaType]),
    [
      ["text", "", "text/plain"],
      ["raw", "a.png", "image/png"],
      ["url", "b.pdf", "application/pdf"],
    ],
  );
});

test("a page of tasks names the next one, and filters by state and context (a2a.7)", async () => {
  const own = await startServerHere({});
  try {
    const client = await connect("echo", "1.0", own);
    const waiting = [await send(client, QUESTION), await send(client, QUESTION)];
    const done = await send(client, QUESTION);
    await send(client, [text("1")], answerTo(done));
    const later = await send(client, QUESTION, { contextId: done.contextId });
    const list = async (more: object): Promise<readonly [ids: readonly string[], next: string]> => {
      const { tasks, nextPageToken } = await client.listTasks({ ...LIST, ...more });
      return [tasks.map(({ id }) => id), nextPageToken];
    };
    const all: string[] = [];
    for (let pageToken = "", first = true; first || pageToken !== ""; first = false) {
      const [ids, next] = await list({ pageSize: 1, pageToken });
      all.push(...ids);
      pageToken = next;
    }
    assert.deepEqual(all.toSorted(), [...waiting, done, later].map(({ id }) => id).toSorted());
    assert.deepEqual((await list({ status: TaskState.TASK_STATE_COMPLETED }))[0], [done.id]);
    assert.deepEqual((await list({ contextId: done.contextId }))[0], [later.id, done.id]);
    assert.equal((await client.listTasks({ ...LIST, contextId: done.contextId })).tasks[0]?.artifacts.length, 0);
  } finally {
    await own.stop();
    removeFolder(own.dataDir);
  }
});

const LIST = {
  tenant: "",
  contextId: "",
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: "",
  statusTimestampAfter: undefined,
};

interface Card {
  readonly name: string;
  readonly securitySchemes?: Readonly<Record<string, unknown>>;
  readonly capabilities: { readonly streaming: boolean };
  readonly skills: readonly { readonly id: string }[];
  readonly url?: string;
  readonly supportedInterfaces: readonly { readonly protocolVersion: string; readonly url: string }[];
}

test("the card names the ways in; without credentials it tells nothing about the assistant (a2a.8)", async () => {
  const key = "0123456789abcdef0123";
  const keyed = await startServerHere({ env: { HOLDPOINT_API_KEYS: `ann:${key}` } });
  const readCard = async (assistant: string, headers: Record<string, string> = {}): Promise<Card> => {
    const path = `/.well-known/agent-card.json?assistant_id=${assistant}`;
    return (await call(keyed, "GET", path, undefined, headers)).body;
  };
  try {
    const [open, other, full] = [
      await readCard("echo"),
      await readCard("none"),
      await readCard("echo", { "x-api-key": key }),
    ];
    assert.deepEqual({ ...other, ...addresses(open) }, open);
    assert.deepEqual([open.name, full.name], ["Agent", "echo"]);
    assert.deepEqual(Object.keys(open.securitySchemes ?? {}), ["api_key"]);
    assert.deepEqual([full.capabilities.streaming, full.skills[0]?.id], [true, "echo"]);
    assert.equal(full.url, `${keyed.url}/a2a/echo`);
    const versions = full.supportedInterfaces.map(({ protocolVersion }) => protocolVersion);
    assert.deepEqual(versions, ["1.0", "0.3"]);
    assert.equal((await call(keyed, "GET", `/.well-known/agent-card.json`)).status, 422);
    const request = { jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} };
    assert.equal((await call(keyed, "POST", "/a2a/echo", request)).status, 401);
    const client = await connect("echo", "1.0", { url: keyed.url, headers: { "x-api-key": key } });
    assert.equal(readState(await send(client, QUESTION)), TaskState.TASK_STATE_INPUT_REQUIRED);
    const extended = await client.getAgentCard();
    assert.ok(extended.capabilities?.extensions.some(({ uri }) => uri === "urn:holdpoint:schemas:1"));
  } finally {
    await keyed.stop();
    removeFolder(keyed.dataDir);
  }
});

function addresses({ url, supportedInterfaces }: Card): Partial<Card> {
  return { ...(url === undefined ? {} : { url }), supportedInterfaces };
}
