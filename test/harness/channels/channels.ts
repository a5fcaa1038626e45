// Channels: every way by which an answer comes in, behind one function: "send this answer over channel C".
//   const reply = await channel.send(world, asked, { who, value, more })
//   const outcome = await observeOutcome(world, asked, () => channel.send(…))
// A test of a rule runs over all of CHANNELS (inTable() of table.ts makes the tests), so that no channel goes round.
//   channel.says(value)    whether the channel can express the value at all: buttons and links cannot say any JSON
//   channel.carries        further members of a request that the channel can bring beside the answer (`update`, `goto`,
//                          `config`, …); [] where there is only the answer
// To add a channel: one entry here, and every table runs over it.
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";
import { writeToken } from "@holdpoint/notify/links/link-token.ts";
import { signedInteraction } from "../../fakes/slack/fake-slack.ts";
import { connect, data, message, sending } from "../../gateways/a2a-client.ts";
import { verb } from "../cli.ts";
import {
  type Asked,
  asWho,
  type Item,
  LINK_SECRET,
  post,
  readItem,
  nameSlackId,
  UNLISTED,
  type Who,
  type World,
} from "./world.ts";
import { choiceFor } from "./choices.ts";

export interface Sent {
  readonly who: Who | typeof UNLISTED;
  readonly value: unknown;
  /** Members of a run's body, or of its `command` (`update`, `goto`), beside the answer. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** What the channel said. */
export interface Reply {
  /** Code of the error table; null where the channel has words only, or for a success. */
  readonly code: string | null;
  readonly status: number | null;
  readonly text: string;
}

export interface Channel {
  readonly name: string;
  readonly says: (value: unknown) => boolean;
  readonly carries: readonly string[];
  /** The channel sends the value as it is, and no decision of a button or form. */
  readonly sendsJson: boolean;
  /** The channel adds metadata of its own: it answers no question with review rules. */
  readonly addsMetadata?: true;
  /** The channel's replies name error codes. */
  readonly hasCodes: boolean;
  readonly send: (world: World, asked: Asked, sent: Sent) => Promise<Reply>;
}

const COMMAND_MEMBERS = ["update", "goto"];
const RUN_MEMBERS = [
  ...COMMAND_MEMBERS,
  "config",
  "context",
  "assistant_id",
  "interrupt_before",
  "interrupt_after",
  "checkpoint",
  "webhook",
  "notify",
  "webhooks",
  "metadata",
  "input",
  "durability",
];
const anything = (): boolean => true;

function buildBody({ interruptId, assistant }: Asked, { value, more = {} }: Sent): Record<string, unknown> {
  const inCommand = Object.entries(more).filter(([name]) => COMMAND_MEMBERS.includes(name));
  const inBody = Object.entries(more).filter(([name]) => !COMMAND_MEMBERS.includes(name));
  const command = { resume: { [interruptId]: value }, ...Object.fromEntries(inCommand) };
  return { assistant_id: assistant, command, ...Object.fromEntries(inBody) };
}

function toReply({ status, text }: { readonly status: number; readonly text: string }): Reply {
  return { status, text, code: status < 400 ? null : codeIn(text) };
}

function codeIn(text: string): string | null {
  return /"code":"(\w+)"/.exec(text)?.[1] ?? null;
}

function runChannel(
  name: string,
  path: (asked: Asked) => string,
  wrap: (body: object, asked: Asked) => unknown,
): Channel {
  return {
    name,
    says: anything,
    sendsJson: true,
    carries: RUN_MEMBERS,
    hasCodes: true,
    send: async (world, asked, sent) =>
      toReply(await post(world, sent.who, path(asked), wrap(buildBody(asked, sent), asked))),
  };
}

const onThread =
  (end: string) =>
  ({ threadId }: Asked) =>
    `/threads/${threadId}${end}`;
const plain = (body: object): unknown => body;
const named = (body: object, { threadId }: Asked): unknown => ({ ...body, thread_id: threadId });

/** Answers by question run with the assistant that asked, whatever `run.start` names (thread-commands.7). */
const BOTH = ["config", "context", "metadata", "interrupt_before", "interrupt_after", "webhook", "webhooks", "notify"];
const COMMANDS = { respond: ["update", "goto", "assistant_id", ...BOTH], start: BOTH };

function buildCommand(
  kind: "respond" | "start",
  { interruptId, assistant }: Asked,
  { value, more = {} }: Sent,
): object {
  return kind === "respond"
    ? { id: 1, method: "input.respond", params: { namespace: [], interrupt_id: interruptId, response: value, ...more } }
    : { id: 1, method: "run.start", params: { assistant_id: assistant, input: { [interruptId]: value }, ...more } };
}

function commandChannel(kind: "respond" | "start", wire: "HTTP" | "WebSocket"): Channel {
  return {
    name: `${kind === "respond" ? "input.respond" : "run.start"} over ${wire}`,
    says: anything,
    sendsJson: true,
    carries: COMMANDS[kind],
    hasCodes: true,
    async send(world, asked, sent) {
      const command = buildCommand(kind, asked, sent);
      const path = `/threads/${asked.threadId}`;
      if (wire === "HTTP") {
        const { text, status } = await post(world, sent.who, `${path}/commands`, command);
        return { status, text, code: text.includes('"type":"error"') ? codeIn(text) : null };
      }
      const socket = new WebSocket(`${world.url.replace("http", "ws")}${path}/stream/events`, {
        headers: asWho(sent.who),
      });
      await once(socket, "open");
      socket.send(JSON.stringify(command));
      const [first, reason] = (await Promise.race([once(socket, "message"), once(socket, "close")])) as [
        Buffer | number,
        Buffer,
      ];
      socket.close();
      if (typeof first === "number") return { status: first - 4000, text: "", code: reason.toString() };
      const text = first.toString();
      return { status: null, text, code: text.includes('"type":"error"') ? codeIn(text) : null };
    },
  };
}

const inbox: Channel = {
  name: "inbox",
  says: anything,
  sendsJson: true,
  carries: [],
  hasCodes: true,
  async send(world, { threadId, interruptId }, { who, value }) {
    const answer = { thread_id: threadId, interrupt_id: interruptId, resume: value };
    const { status, text } = await post(world, who, "/inbox/answers", [answer]);
    return { status, text, code: codeIn(text) };
  },
};

const cli: Channel = {
  name: "command line",
  says: anything,
  sendsJson: true,
  carries: [],
  hasCodes: true,
  async send(world, { threadId, interruptId }, { who, value }) {
    const args = ["inbox", "answer", `${threadId}/${interruptId}`, JSON.stringify(value), "--json"];
    const env = { HOLDPOINT_URL: world.url, HOLDPOINT_API_KEY: who };
    const { out, err } = await verb(args, { env });
    return { status: null, text: out + err, code: codeIn(out) };
  },
};

const mcp: Channel = {
  name: "MCP",
  says: anything,
  sendsJson: true,
  carries: [],
  hasCodes: false,
  async send(world, { threadId, interruptId }, { who, value }) {
    const client = new McpClient({ name: "test", version: "2" }, { versionNegotiation: { mode: "auto" } });
    const requestInit = { headers: asWho(who) };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit }));
    const args = { thread_id: threadId, interrupt_id: interruptId, answer: value };
    const result = await client.callTool({ name: "resume", arguments: args });
    await client.close();
    return { status: null, text: JSON.stringify(result), code: null };
  },
};

const isPlain = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const AS_INPUT = { says: isPlain, sendsJson: true, carries: [], hasCodes: false, addsMetadata: true } as const;

type SendInput = (world: World, asked: Asked, sent: Sent, choice?: { readonly on_paused: string }) => Promise<Reply>;
const ANSWER = { on_paused: "answer" };

const sendOverMcp: SendInput = async (world, { threadId, assistant }, { who, value }, choice) => {
  const client = new McpClient({ name: "test", version: "2" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: asWho(who) };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit }));
  const meta = { thread_id: threadId, ...choice };
  const result = await client.callTool({ name: assistant, arguments: value as object as never, _meta: meta });
  await client.close();
  return { status: null, text: JSON.stringify(result), code: null };
};

const sendOverA2a: SendInput = async (world, { threadId, assistant }, { who, value }, choice) => {
  const client = await connect(assistant, "1.0", { url: world.url, headers: asWho(who) });
  const request = { ...sending(message([data(value)], { contextId: threadId })), metadata: { ...choice } };
  const text = await client.sendMessage(request).then((task) => JSON.stringify(task), String);
  return { status: null, text, code: null };
};

/** Input of a new run that counts as the answer of the paused thread. */
const mcpInput: Channel = {
  ...AS_INPUT,
  name: "input over MCP, on_paused answer",
  send: (world, asked, sent) => sendOverMcp(world, asked, sent, ANSWER),
};

const a2aInput: Channel = {
  ...AS_INPUT,
  name: "input over A2A, on_paused answer",
  send: (world, asked, sent) => sendOverA2a(world, asked, sent, ANSWER),
};

const a2a: Channel = {
  name: "A2A",
  says: anything,
  sendsJson: true,
  carries: ["webhook"],
  hasCodes: false,
  async send(world, { threadId, interruptId, runId, assistant }, { who, value, more }) {
    const client = await connect(assistant, "1.0", { url: world.url, headers: asWho(who) });
    const to = { taskId: runId, contextId: threadId };
    const url = more?.["webhook"];
    const place = { tenant: "", id: "", taskId: "", token: "", authentication: undefined };
    const push = typeof url === "string" ? { ...place, url } : undefined;
    const request = sending(message([data({ interrupt_id: interruptId, resume: value })], to), push);
    const text = await client.sendMessage(request).then((task) => JSON.stringify(task), String);
    return { status: null, text, code: /\((\w+)\)/.exec(text)?.[1] ?? null };
  },
};

const slack: Channel = {
  name: "Slack",
  says: (value) => choiceFor(value) !== null,
  sendsJson: false,
  carries: [],
  hasCodes: false,
  async send(world, { threadId, interruptId }, { who, value }) {
    const { choice, text } = choiceFor(value) ?? { choice: "approve", text: "" };
    const needsForm = choice !== "approve" && choice !== "ignore";
    const from = { user: { id: nameSlackId(who) }, team: { id: "T00000001" } };
    const channel = "C0000000001";
    const state = { thread_id: threadId, interrupt_id: interruptId, choice, channel };
    const view = {
      callback_id: "decide",
      private_metadata: JSON.stringify(state),
      state: { values: { text: { text: { type: "plain_text_input", value: text === "" ? null : text } } } },
    };
    const click = {
      trigger_id: randomUUID(),
      container: { type: "message", channel_id: channel, message_ts: "1700000000.000001" },
      actions: [{ action_id: choice, value: `${threadId} ${interruptId}` }],
    };
    const payload = needsForm ? { type: "view_submission", view } : { type: "block_actions", ...click };
    const { headers, body } = signedInteraction({ ...payload, ...from, nonce: randomUUID() });
    const response = await fetch(`${world.url}/slack/interactions`, { method: "POST", headers, body });
    return { status: response.status, text: await response.text(), code: null };
  },
};

const link: Channel = {
  name: "link of an e-mail",
  says: (value) => choiceFor(value) !== null,
  sendsJson: false,
  carries: [],
  hasCodes: false,
  async send(world, { threadId, interruptId }, { who, value }) {
    const { choice, text } = choiceFor(value) ?? { choice: "approve", text: "" };
    const person = who === UNLISTED ? `${who}@example.com` : who;
    const token = writeToken({ threadId, interruptId, person, expiresAt: Date.now() + 60_000 }, LINK_SECRET);
    const body = new URLSearchParams({ choice, text });
    const response = await fetch(`${world.url}/answer/${token}`, { method: "POST", body });
    return { status: response.status, text: await response.text(), code: null };
  },
};

export const CHANNELS: readonly Channel[] = [
  runChannel("POST /threads/{id}/runs", onThread("/runs"), plain),
  runChannel("POST /threads/{id}/runs/wait", onThread("/runs/wait"), plain),
  runChannel("POST /threads/{id}/runs/stream", onThread("/runs/stream"), plain),
  runChannel("POST /runs, thread in the body", () => "/runs", named),
  runChannel("POST /runs/wait, thread in the body", () => "/runs/wait", named),
  runChannel("POST /runs/stream, thread in the body", () => "/runs/stream", named),
  runChannel(
    "POST /runs/batch",
    () => "/runs/batch",
    (body, asked) => [named(body, asked)],
  ),
  {
    ...runChannel("POST /threads/{id}/runs, on_paused answer", onThread("/runs"), plain),
    says: (value) => value !== null,
    carries: RUN_MEMBERS.filter((name) => !COMMAND_MEMBERS.includes(name) && name !== "input"),
    send: async (world, asked, { who, value, more }) => {
      const body = { assistant_id: asked.assistant, input: value, on_paused: "answer", ...more };
      return toReply(await post(world, who, `/threads/${asked.threadId}/runs`, body));
    },
  },
  commandChannel("respond", "HTTP"),
  commandChannel("start", "HTTP"),
  commandChannel("respond", "WebSocket"),
  commandChannel("start", "WebSocket"),
  inbox,
  cli,
  mcp,
  a2a,
  mcpInput,
  a2aInput,
  slack,
  link,
];

const RUN_PATHS: readonly (readonly [path: string, isNamed: boolean])[] = [
  ...["runs", "runs/wait", "runs/stream"].map((end) => [`/threads/{id}/${end}`, false] as const),
  ...["/runs", "/runs/wait", "/runs/stream", "/runs/batch"].map((path) => [path, true] as const),
];

/** New input as people and programs send it, over every channel that starts runs. `more`: members of the run. */
export const INPUTS: readonly Pick<Channel, "name" | "send">[] = [
  ...RUN_PATHS.map(([path, isNamed]) => ({
    name: `POST ${path}`,
    async send(world: World, asked: Asked, { who, value, more }: Sent) {
      const body = { assistant_id: asked.assistant, input: value, ...more };
      const whole = isNamed ? { ...body, thread_id: asked.threadId } : body;
      const at = path.replace("{id}", asked.threadId);
      return toReply(await post(world, who, at, path.endsWith("batch") ? [whole] : whole));
    },
  })),
  {
    name: "run.start",
    async send(world, asked, { who, value, more }) {
      const params = { assistant_id: asked.assistant, input: value, ...more };
      const command = { id: 1, method: "run.start", params };
      const { text, status } = await post(world, who, `/threads/${asked.threadId}/commands`, command);
      return { status, text, code: text.includes('"type":"error"') ? codeIn(text) : null };
    },
  },
  { name: "MCP", send: (world, asked, sent) => sendOverMcp(world, asked, sent, sent.more as typeof ANSWER) },
  { name: "A2A", send: (world, asked, sent) => sendOverA2a(world, asked, sent, sent.more as typeof ANSWER) },
];

export interface Outcome extends Reply {
  /** From the question itself, read after the reply: not what the channel claims. */
  readonly result: "answered" | "counted" | "refused";
  readonly item: Item;
}

export async function observeOutcome(world: World, asked: Asked, act: () => Promise<Reply>): Promise<Outcome> {
  const before = await readItem(world, asked);
  const reply = await act();
  const item = await readItem(world, asked);
  const formatVotes = ({ review }: Item): string => JSON.stringify(review?.votes ?? []);
  const isOpen = item.state === "open";
  const result = !isOpen ? "answered" : formatVotes(item) === formatVotes(before) ? "refused" : "counted";
  return { ...reply, result, item };
}
