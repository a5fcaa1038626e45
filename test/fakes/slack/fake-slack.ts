// A fake Slack: the Web API that an app calls, and the clicks and forms that Slack sends to the app. It enforces Slack's
// rules, and notes each violation.
// Rules:
//   fakes/slack.1. Calls carry the bot token; messages and views keep to Block Kit; read methods take forms only.
//   fakes/slack.2. A trigger opens one view, within three seconds of its click.
//   fakes/slack.3. An app replies to an interaction within three seconds, with 200.
//   fakes/slack.4. Over a limit, a call gets 429 with Retry-After.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brokenSlackRules, brokenViewRules } from "./slack-rules.ts";

export const BOT_TOKEN = "xoxb-for-tests";
export const SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const TEAM = "T00000001";
const REPLY_MS = 3000;

type Plain = Readonly<Record<string, unknown>>;

export interface PostedMessage {
  readonly channel: string;
  readonly ts: string;
  /** The newest content. */
  text: string;
  blocks: readonly Plain[];
  updates: number;
}

export interface SlackMember {
  readonly id: string;
  readonly email: string;
  readonly flags?: Plain;
}

export interface FakeSlack {
  /** For `slack.api_url` of the notification file. */
  readonly url: string;
  readonly messages: readonly PostedMessage[];
  /** Every call that came, with its status. */
  readonly calls: readonly { readonly method: string; readonly body: Plain; readonly status: number }[];
  /** Notes that only one member sees. */
  readonly notes: readonly { readonly user: string; readonly text: string }[];
  readonly views: readonly Plain[];
  /** What the app did against the rules. */
  readonly broken: readonly string[];
  /** Resolves once the condition holds; it is looked at after each call. */
  until<T>(find: () => T | undefined): Promise<T>;
  /** The next calls of a method have their effect, but get no reply. */
  swallow(method: string, times: number): void;
  /** The next calls of a method get this reply. */
  fail(method: string, times: number, reply: (response: ServerResponse) => void): void;
  /** Clicks a button of a message. @returns the reply of the app */
  click(app: string, message: PostedMessage, action: string, member: string): Promise<Response>;
  /** Submits the view that was opened last, with this text or the option of this label. */
  submit(app: string, text: string, member: string): Promise<Response>;
  close(): Promise<void>;
}

export async function startFakeSlack(members: readonly SlackMember[]): Promise<FakeSlack> {
  const messages: PostedMessage[] = [];
  const calls: { method: string; body: Plain; status: number }[] = [];
  const notes: { user: string; text: string }[] = [];
  const views: Plain[] = [];
  const broken: string[] = [];
  const triggers = new Map<string, number>();
  const failures = new Map<string, ((response: ServerResponse) => void)[]>();
  const swallowed = new Map<string, number>();
  const watching = new Set<() => void>();
  let count = 0;

  const methods: Readonly<Record<string, (body: Plain) => Plain>> = {
    "auth.test": () => ({ ok: true, team_id: TEAM }),
    "chat.postMessage"({ channel, text, blocks, unfurl_links: _links }) {
      if (blocks !== undefined) broken.push(...brokenSlackRules({ text, blocks }));
      if (!/^[CGDUW#]/.test(String(channel))) return { ok: false, error: "channel_not_found" };
      const ts = `1700000000.${String(++count).padStart(6, "0")}`;
      const where = String(channel).startsWith("U") ? `D${String(channel).slice(1)}` : String(channel);
      messages.push({ channel: where, ts, text: String(text), blocks: blocks as readonly Plain[], updates: 0 });
      return { ok: true, channel: where, ts };
    },
    "chat.update"({ channel, ts, text, blocks }) {
      broken.push(...brokenSlackRules({ text, blocks }));
      const found = messages.find((one) => one.channel === channel && one.ts === ts);
      if (found === undefined) return { ok: false, error: "message_not_found" };
      Object.assign(found, { text, blocks, updates: found.updates + 1 });
      return { ok: true, channel, ts };
    },
    "chat.postEphemeral"({ user, text }) {
      notes.push({ user: String(user), text: String(text) });
      return { ok: true, message_ts: "1" };
    },
    "users.info"({ user }) {
      const found = members.find(({ id }) => id === user);
      if (found === undefined) return { ok: false, error: "user_not_found" };
      return { ok: true, user: { id: user, team_id: TEAM, profile: { email: found.email }, ...found.flags } };
    },
    "users.lookupByEmail"({ email }) {
      const found = members.find((one) => one.email === email);
      return found === undefined ? { ok: false, error: "users_not_found" } : { ok: true, user: { id: found.id } };
    },
    "views.open"({ trigger_id: trigger, view }) {
      broken.push(...brokenViewRules(view));
      const madeAt = triggers.get(String(trigger));
      if (madeAt === undefined) return { ok: false, error: "exchanged_trigger_id" };
      triggers.delete(String(trigger)); // fakes/slack.2
      if (performance.now() - madeAt > REPLY_MS) return { ok: false, error: "expired_trigger_id" };
      views.push(view as Plain);
      return { ok: true, view };
    },
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const method = (request.url ?? "").slice("/api/".length);
    const isForm = request.headers["content-type"] === "application/x-www-form-urlencoded";
    const body = (isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text)) as Plain;
    const failure = failures.get(method)?.shift();
    if ((swallowed.get(method) ?? 0) > 0) {
      swallowed.set(method, (swallowed.get(method) ?? 0) - 1);
      methods[method]?.(body);
    } else if (failure !== undefined) failure(response);
    else if (request.headers.authorization !== `Bearer ${BOT_TOKEN}`)
      reply(response, { ok: false, error: "invalid_auth" });
    else if (/^(users|auth)\./.test(method) && !isForm) reply(response, { ok: false, error: "invalid_arguments" }); // fakes/slack.1
    else reply(response, methods[method]?.(body) ?? { ok: false, error: "unknown_method" });
    calls.push({ method, body, status: response.statusCode });
    for (const look of watching) look();
  };
  const server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  /** fakes/slack.3. */
  const send = async (app: string, payload: Plain): Promise<Response> => {
    const { headers, body } = signedInteraction(payload);
    try {
      const response = await fetch(`${app}/slack/interactions`, {
        method: "POST",
        headers,
        body,
        signal: AbortSignal.timeout(REPLY_MS),
      });
      if (response.status !== 200) broken.push(`the app replied ${response.status}`);
      return response;
    } catch (error) {
      broken.push(`the app did not reply in time: ${String(error)}`);
      throw error;
    }
  };
  const from = (member: string): Plain => ({ user: { id: member, team_id: TEAM }, team: { id: TEAM } });

  return {
    url: `http://127.0.0.1:${port}/api/`,
    messages,
    calls,
    notes,
    views,
    broken,
    until(find) {
      return new Promise((resolve) => {
        const look = (): void => {
          const found = find();
          if (found === undefined) return;
          watching.delete(look);
          resolve(found);
        };
        watching.add(look);
        look();
      });
    },
    swallow: (method, times) => void swallowed.set(method, times),
    fail(method, times, answer) {
      failures.set(method, [...(failures.get(method) ?? []), ...Array.from({ length: times }, () => answer)]);
    },
    async click(app, message, action, member) {
      const elements = message.blocks.flatMap((block) => (block["elements"] ?? []) as readonly Plain[]);
      const button = elements.find((one) => one["action_id"] === action);
      if (button === undefined) throw new Error(`the message has no button ${action}`);
      const trigger = `trigger.${++count}`;
      triggers.set(trigger, performance.now());
      return send(app, {
        type: "block_actions",
        ...from(member),
        trigger_id: trigger,
        container: { type: "message", channel_id: message.channel, message_ts: message.ts },
        actions: [{ ...button, action_ts: `${count}` }],
      });
    },
    async submit(app, text, member) {
      const view = views.at(-1) ?? {};
      const state = { values: { text: { text: fillIn(view, text) } } };
      return send(app, { type: "view_submission", ...from(member), view: { ...view, id: `V${++count}`, state } });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** What Slack sends of the input of a view: a text, or the option with this label. */
function fillIn({ blocks }: Plain, text: string): Plain {
  const inputs = ((blocks ?? []) as readonly { readonly element?: Plain }[]).map(({ element }) => element);
  const input = inputs.find((one) => one !== undefined);
  const [type, options] = [input?.["type"], input?.["options"]];
  if (type !== "static_select") return { type: "plain_text_input", value: text === "" ? null : text };
  const found = (options as readonly { readonly text: { readonly text: string } }[]).find(
    (one) => one.text.text === text,
  );
  if (found === undefined) throw new Error(`the form has no option ${text}`);
  return { type, selected_option: found };
}

/** A request as Slack signs it. */
export function signedInteraction(
  payload: unknown,
  at: number = Date.now(),
  secret: string = SIGNING_SECRET,
): { readonly headers: Record<string, string>; readonly body: string } {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const timestamp = String(Math.floor(at / 1000));
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`;
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": signature,
  };
  return { headers, body };
}

function reply(response: ServerResponse, body: Plain): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** fakes/slack.4. */
export function limited(seconds: number): (response: ServerResponse) => void {
  return (response) => void response.writeHead(429, { "retry-after": String(seconds) }).end();
}
