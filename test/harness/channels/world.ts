// A server with every channel by which a person, a program or a schedule can answer a question, and questions on it.
//   startWorld() once a file; askOn() makes a question; send an answer with a channel of channels.ts; the truth about
//   what happened is readItem(), never the words of a reply.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BOT_TOKEN, type FakeSlack, SIGNING_SECRET, startFakeSlack } from "../../fakes/slack/fake-slack.ts";
import { call, removeFolder, ROOT, temporaryFolder, type Answer } from "../server.ts";
import { type ServerHere, startServerHere } from "../server-here.ts";

export const LINK_SECRET = "a secret for the links of the tests";
const GRAPHS = join(ROOT, "test", "graphs", "answers", "langgraph.json");

/**
 * Names of people; each is a token, an entry of the notification file, and a member of Slack. `root` may do all, `mal`
 * may not answer.
 */
export const PEOPLE = ["ann", "bob", "cyd", "mal", "root"] as const;
export type Who = (typeof PEOPLE)[number];

/** A member of Slack with a token, whom the notification file does not name. */
export const UNLISTED = "zed" as const;

export const nameSlackId = (who: Who | typeof UNLISTED): string => `U0000000${who.toUpperCase()}`;
export const asWho = (who: string): Record<string, string> => ({ authorization: `Bearer ${who}` });

export interface World {
  readonly server: ServerHere;
  readonly url: string;
  readonly slack: FakeSlack;
  readonly close: () => Promise<void>;
}

export async function startWorld(config: string = GRAPHS, env: Readonly<Record<string, string>> = {}): Promise<World> {
  const members = ([...PEOPLE, UNLISTED] as const).map((who) => ({
    id: nameSlackId(who),
    email: `${who}@example.com`,
  }));
  const slack = await startFakeSlack(members);
  const folder = temporaryFolder();
  const file = join(folder, "notifications.json");
  const people = Object.fromEntries(
    PEOPLE.map((who) => [who, { slack: nameSlackId(who), email: `${who}@example.com` }] as const),
  );
  const email = { from: "Holdpoint <holdpoint@example.com>", links: "1d" };
  const rules = [{ name: "reviewers", graphs: ["no such graph"], email: ["assignees"] }]; // so their links work
  writeFileSync(file, JSON.stringify({ slack: { api_url: slack.url }, people, email, rules }));
  const server = await startServerHere({
    config,
    env: {
      HOLDPOINT_NOTIFICATIONS: file,
      HOLDPOINT_LINK_SECRET: LINK_SECRET,
      SMTP_URL: "smtp://127.0.0.1:9", // no question has the graph of the rule: no mail leaves
      SLACK_BOT_TOKEN: BOT_TOKEN,
      SLACK_SIGNING_SECRET: SIGNING_SECRET,
      ...env,
    },
  });
  const close = async (): Promise<void> => {
    await server.stop();
    await slack.close();
    for (const path of [server.dataDir, folder]) removeFolder(path);
  };
  return { server, url: server.url, slack, close };
}

export interface Asked {
  readonly threadId: string;
  readonly interruptId: string;
  /** The run that asked. */
  readonly runId: string;
  /** Graph or assistant of the run that asked. */
  readonly assistant: string;
}

/** A question with this payload, asked by a run of `starter`. @param more members of the run's body */
export async function askOn(
  world: World,
  payload: unknown,
  {
    starter = "starter",
    assistant = "echo",
    ...more
  }: { starter?: string; assistant?: string; [name: string]: unknown } = {},
): Promise<Asked> {
  const threadId = String((await post(world, starter, "/threads", {})).body["thread_id"]);
  const body = { assistant_id: assistant, input: { payload }, ...more };
  const started = await post(world, starter, `/threads/${threadId}/runs`, body);
  assert.equal(started.status, 200, started.text);
  const { run_id: runId } = started.body as { readonly run_id: string };
  const joined = await read(world, `/threads/${threadId}/runs/${runId}/join`);
  const [open] = (joined.body["__interrupt__"] ?? []) as readonly { readonly id: string }[];
  assert.ok(open !== undefined, `the run did not ask: ${joined.text}`);
  return { threadId, interruptId: open.id, runId, assistant };
}

export function post(
  { url }: Pick<World, "url">,
  who: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return call({ url }, "POST", path, body, { ...asWho(who), ...headers });
}

export function read({ url }: Pick<World, "url">, path: string, who = "reader"): Promise<Answer> {
  return call({ url }, "GET", path, undefined, asWho(who));
}

export interface Item {
  readonly state: "open" | "answered" | "abandoned";
  readonly response_schema?: Readonly<Record<string, unknown>>;
  readonly review?: { readonly votes: readonly { readonly by: string; readonly verdict: string }[] } | null;
  readonly answered?: { readonly by: string; readonly value: unknown };
}

export async function readItem(world: World, { threadId, interruptId }: Asked): Promise<Item> {
  const { status, body, text } = await read(world, `/inbox/${threadId}/${interruptId}`);
  assert.equal(status, 200, text);
  return body;
}
