// The inbox over HTTP as tests use it: items, answers, and its events as they come.
import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { call, type Answer } from "./server.ts";
import type { WireProblem } from "./threads.ts";

export interface WireItem {
  readonly id: string;
  readonly thread_id: string;
  readonly graph_id: string;
  readonly assistant_id: string;
  readonly run_id: string | null;
  readonly node: string;
  readonly kind: string;
  readonly dialect: string | null;
  readonly title: string;
  readonly action: string | null;
  readonly created_at: string;
  readonly claim: { readonly by: string; readonly at: string; readonly until: string | null } | null;
  readonly deadline: { readonly expires_at: string; readonly on_expiry: string | null } | null;
  readonly state: string;
  readonly overdue: boolean;
  readonly thread_status: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  readonly answered?: { readonly by: string; readonly run_id: string; readonly value: unknown };
}

export interface WireResult {
  readonly thread_id: string;
  readonly interrupt_id: string;
  readonly status: "answered" | "pending" | "refused";
  readonly run_id?: string;
  readonly problem?: WireProblem;
}

export interface WireAudit {
  readonly seq: number;
  readonly action: string;
  readonly by: string;
  readonly via: string;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly interrupt_id: string | null;
  readonly run_id: string | null;
  readonly value: unknown;
}

interface At {
  readonly url: string;
}

export async function ok(answer: Promise<Answer>): Promise<never> {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  return body;
}

export async function inboxPage(
  server: At,
  query: Readonly<Record<string, string>> = {},
): Promise<{ readonly items: readonly WireItem[]; readonly next_cursor: string | null }> {
  return ok(call(server, "GET", `/inbox?${new URLSearchParams(query).toString()}`));
}

/** The items of a thread, in the order of the inbox. */
export async function readItems(server: At, threadId: string): Promise<readonly WireItem[]> {
  return (await inboxPage(server, { thread_id: threadId })).items;
}

export async function answer(
  server: At,
  answers: readonly object[] | object,
  headers: Record<string, string> = {},
): Promise<readonly WireResult[]> {
  const { results }: { readonly results: readonly WireResult[] } = await ok(
    call(server, "POST", "/inbox/answers", answers, headers),
  );
  return results;
}

export async function readAudit(server: At, threadId: string): Promise<readonly WireAudit[]> {
  const { items }: { readonly items: readonly WireAudit[] } = await ok(
    call(server, "GET", `/threads/${threadId}/audit?limit=1000`),
  );
  return items;
}

export interface WireEvent {
  readonly event: string;
  readonly id: string;
  readonly data: { readonly id: string; readonly thread_id: string; readonly [name: string]: unknown };
}

export interface Watcher {
  /** The next unread event. */
  readonly next: () => Promise<WireEvent>;
  readonly close: () => void;
  /** Resolves when the server ends the stream. */
  readonly ended: Promise<void>;
}

/** Watches the inbox; resolves once the server listens to its own changes for this reader. */
export async function watchInbox(
  server: At,
  lastEventId: string | null = null,
): Promise<Watcher & { first: WireEvent }> {
  const headers = lastEventId === null ? {} : { "last-event-id": lastEventId };
  const request = get(`${server.url}/inbox/events`, { headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  request.on("error", () => undefined); // as close() makes it
  assert.equal(response.statusCode, 200);
  assert.match(String(response.headers["content-type"]), /^text\/event-stream/);
  const events: WireEvent[] = [];
  const waiting: ((event: WireEvent) => void)[] = [];
  const lines = createInterface({ input: response });
  for (const source of [response, lines]) source.on("error", () => undefined);
  let event: Record<string, string> = {};
  lines.on("line", (line) => {
    if (line === "") {
      const { event: name = "", id = "", data = "{}" } = event;
      const whole: WireEvent = { event: name, id, data: JSON.parse(data) as WireEvent["data"] };
      event = {};
      const reader = waiting.shift();
      if (reader === undefined) events.push(whole);
      else reader(whole);
      return;
    }
    const [, field = "", value = ""] = /^(\w*): ?(.*)$/.exec(line) ?? [];
    if (field !== "") event[field] = value;
  });
  const ended = new Promise<void>((resolve) => lines.once("close", () => resolve()));
  const next = (): Promise<WireEvent> => {
    const event = events.shift();
    return event === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(event);
  };
  return { next, ended, close: () => void request.destroy(), first: await next() };
}
