// Rows of the table of the client's surface. A method or an option has one row, which says what the server makes of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Client, Run } from "@langchain/langgraph-sdk";

export interface Bench {
  readonly client: Client;
  /** The arguments and the bodies of the requests that a call would send; it gets no reply. */
  listRequests(call: (client: Client) => unknown): Promise<string>;
  /** A URL that counts the posts to it by their paths. */
  readonly receiver: { readonly url: string; waitFor(path: string): Promise<Readonly<Record<string, unknown>>> };
}

/**
 * - `effect`: the server does what the reference does; the check sees it.
 * - `documented`: the server takes it without an effect, and docs/how-to/migrate.md names it as a difference.
 * - `refused`: the server refuses it by name; the check sees the refusal.
 * - `client`: the client acts on it by itself; no server sees it.
 * - `unsent`: the declarations have it, and the client does not send it; the check sees the request without it.
 */
export interface Row<B = Bench> {
  readonly how: "effect" | "documented" | "refused" | "client" | "unsent";
  readonly check: ((bench: B) => Promise<void>) | null;
}

export function effects<B = Bench>(
  part: string,
  checks: Readonly<Record<string, Row<B>["check"]>>,
): readonly [string, Row<B>][] {
  return Object.entries(checks).map(([name, check]) => [`${part}.${name}`, { how: "effect", check }]);
}

const MIGRATE = readFileSync(new URL("../../../docs/how-to/migrate.md", import.meta.url), "utf8");

/** @param subject the name that the row of the page begins with */
export function documented<B = Bench>(
  name: string,
  subject: string,
  check: NonNullable<Row<B>["check"]>,
): [string, Row<B>] {
  return [
    name,
    {
      how: "documented",
      async check(bench) {
        assert.ok(MIGRATE.includes(`| \`${subject}\` |`), `docs/how-to/migrate.md has no row of ${subject}`);
        await check(bench);
      },
    },
  ];
}

export function inClient(methods: readonly string[], options: readonly string[]): readonly [string, Row<unknown>][] {
  const row: Row<unknown> = { how: "client", check: null };
  return methods.flatMap((method) => options.map((option): [string, Row<unknown>] => [`${method}.${option}`, row]));
}

/** A run as the server shows it: with members that the client's type does not have. */
export type ShownRun = Run & {
  readonly ended_by: string | null;
  readonly cancel_reason: string | null;
  readonly kwargs: Readonly<Record<string, unknown>>;
};

export async function collect<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

export type Check = (bench: Bench) => Promise<void>;

/** Objects of one check have a mark of their own. */
let marks = 0;
export const newMark = (): { readonly of: string } => ({ of: `surface ${++marks}` });

/** A thread whose run has ended. */
export async function ran(client: Client, metadata?: { readonly of: string }): Promise<string> {
  const { thread_id: id } = await client.threads.create(metadata === undefined ? {} : { metadata });
  await client.runs.wait(id, "steps", { input: { visited: [] } });
  return id;
}

export const newThread = async (client: Client): Promise<string> => (await client.threads.create()).thread_id;

export async function pausedThread(client: Client): Promise<string> {
  const threadId = await newThread(client);
  await client.runs.wait(threadId, "echo", { input: {} });
  return threadId;
}

/** The state before node_c, of a thread that went on to its end. */
export async function middle(client: Client): Promise<{ readonly threadId: string; readonly checkpointId: string }> {
  const threadId = await newThread(client);
  await client.runs.wait(threadId, "steps", { input: { visited: [] } });
  const states = await client.threads.getHistory(threadId);
  const state = states.find(({ next }) => next[0] === "node_c");
  return { threadId, checkpointId: state?.checkpoint.checkpoint_id ?? "" };
}

/** Whether the state comes from the checkpoint by way of one copy of it, which the library puts where a branch begins. */
export async function isForkedAt(client: Client, threadId: string, checkpointId: string): Promise<boolean> {
  const { parent_checkpoint: parent } = await client.threads.getState(threadId);
  const copy = await client.threads.getState(threadId, parent?.checkpoint_id ?? "");
  return copy.parent_checkpoint?.checkpoint_id === checkpointId;
}
