// Interrupts with review rules over HTTP: people by their tokens, questions, votes.
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, ROOT, type Answer } from "../server.ts";
import type { WireResult } from "../inbox.ts";

export const REVIEW_GRAPHS = join(ROOT, "test", "graphs", "reviews", "langgraph.json");

interface At {
  readonly url: string;
}

/** A person as the server of test/graphs/reviews knows it: `ann`, or `ann:finance+board` with groups. */
export function post(server: At, who: string, path: string, body: unknown, headers = {}): Promise<Answer> {
  return call(server, "POST", path, body, { authorization: `Bearer ${who}`, ...headers });
}

export function read(server: At, path: string): Promise<Answer> {
  return call(server, "GET", path, undefined, { authorization: "Bearer reader" });
}

export interface Question {
  readonly thread_id: string;
  readonly interrupt_id: string;
  readonly path: string;
}

/** A run of `starter` that asks under these rules. */
export async function askUnder(server: At, rules: unknown, starter = "starter", more: object = {}): Promise<Question> {
  const { body: thread } = await post(server, starter, "/threads", {});
  const threadId = String(thread["thread_id"]);
  const payload = { question: "Pay?", review_rules: rules };
  const run = { assistant_id: "echo", input: { payload }, ...more };
  const asked = await post(server, starter, `/threads/${threadId}/runs/wait`, run);
  const [interrupt] = asked.body["__interrupt__"] as readonly { readonly id: string }[];
  assert.ok(interrupt !== undefined, asked.text);
  return { thread_id: threadId, interrupt_id: interrupt.id, path: `/inbox/${threadId}/${interrupt.id}` };
}

export async function vote(
  server: At,
  who: string,
  { thread_id, interrupt_id }: Question,
  resume: unknown,
): Promise<WireResult> {
  const answered = await post(server, who, "/inbox/answers", [{ thread_id, interrupt_id, resume }]);
  assert.equal(answered.status, 200, answered.text);
  const [result] = answered.body["results"] as readonly WireResult[];
  assert.ok(result !== undefined);
  return result;
}

export function resume(server: At, who: string, { thread_id }: Question, value: unknown): Promise<Answer> {
  return post(server, who, `/threads/${thread_id}/runs/wait`, { assistant_id: "echo", command: { resume: value } });
}

/** Actions of the audit trail with their authors. */
export async function readTrail(server: At, { thread_id }: Question): Promise<readonly (readonly [string, string])[]> {
  const { body } = await read(server, `/threads/${thread_id}/audit?limit=1000`);
  const items = body["items"] as readonly { readonly action: string; readonly by: string }[];
  return items.map(({ action, by }) => [action, by] as const);
}
