// Threads over HTTP: one object per thread, calls with their expectations, snapshots to compare.
import assert from "node:assert/strict";
import { existsSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { call, type Answer, type TestServer } from "./server.ts";

export interface WireInterrupt {
  readonly id: string;
  readonly value: unknown;
  readonly resumable: boolean;
  readonly ns: readonly string[];
  readonly when: string;
  readonly response_schema?: unknown;
}

export interface Result {
  readonly [channel: string]: unknown;
  readonly __interrupt__?: readonly WireInterrupt[];
  readonly __error__?: { readonly error: string; readonly message: string };
}

export interface WireTask {
  readonly id: string;
  readonly name: string;
  readonly error: string | null;
  readonly interrupts: readonly WireInterrupt[];
  readonly checkpoint: { readonly checkpoint_ns: string } | null;
  readonly state: WireState | null;
}

export interface WireState {
  readonly values: Readonly<Record<string, unknown>>;
  readonly next: readonly string[];
  readonly tasks: readonly WireTask[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly checkpoint: { readonly checkpoint_id: string; readonly checkpoint_ns: string };
  readonly parent_checkpoint: { readonly checkpoint_id: string } | null;
  readonly interrupts: readonly WireInterrupt[];
}

export interface WireThread {
  readonly thread_id: string;
  readonly status: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly interrupts: Readonly<Record<string, readonly WireInterrupt[]>>;
  readonly error?: { readonly error: string; readonly message: string };
}

export interface WireRun {
  readonly run_id: string;
  readonly status: string;
  readonly ended_by: string | null;
  readonly attempt: number;
}

export interface WireProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly pending?: readonly WireInterrupt[];
  readonly answered?: { readonly interrupt_id: string; readonly run_id: string; readonly same_value: boolean };
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly known?: readonly string[];
}

export interface TestThread {
  readonly threadId: string;
  readonly path: string;
  /** POST runs/wait, with any status. */
  readonly wait: (body: object, headers?: Record<string, string>) => Promise<Answer>;
  /** As wait(), but fails unless accepted. */
  readonly run: (body: object, headers?: Record<string, string>) => Promise<Result>;
  readonly resume: (value: unknown) => Promise<Result>;
  /** POST runs: in the background. */
  readonly begin: (body: object) => Promise<WireRun>;
  readonly join: (run: WireRun) => Promise<Result>;
  readonly get: () => Promise<WireThread>;
  readonly state: (query?: string) => Promise<WireState>;
  readonly history: () => Promise<readonly WireState[]>;
  readonly runs: () => Promise<readonly WireRun[]>;
  /** Everything that a refusal must leave as it is. */
  readonly picture: () => Promise<object>;
  /** The open questions, as the thread shows them. */
  readonly open: () => Promise<readonly WireInterrupt[]>;
  /** Resolves when a run or a deadline has left the thread with this status. */
  readonly reaches: (status: "idle" | "interrupted" | "error") => Promise<void>;
}

type At = Logging & { readonly url: string };

export async function newThread(server: At, graph: string, request: object = {}): Promise<TestThread> {
  const { thread_id: threadId }: WireThread = (await call(server, "POST", "/threads", request)).body;
  return openThread(server, graph, threadId);
}

export function openThread(server: At, graph: string, threadId: string): TestThread {
  const path = `/threads/${threadId}`;
  const fetched = async (method: string, at: string, body?: unknown): Promise<never> => {
    const answer = await call(server, method, `${path}${at}`, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const post: TestThread["wait"] = (body, headers) =>
    call(server, "POST", `${path}/runs/wait`, { assistant_id: graph, ...body }, headers);
  const thread: TestThread = {
    threadId,
    path,
    wait: post,
    run: async (body, headers) => {
      const answer = await post(body, headers);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    },
    resume: (value) => thread.run({ command: { resume: value } }),
    begin: (body) => fetched("POST", "/runs", { assistant_id: graph, ...body }),
    join: (run) => fetched("GET", `/runs/${run.run_id}/join`),
    get: () => fetched("GET", ""),
    state: (query = "") => fetched("GET", `/state${query}`),
    history: () => fetched("GET", "/history?limit=1000"),
    runs: () => fetched("GET", "/runs?limit=1000"),
    picture: async () => ({
      thread: await thread.get(),
      state: await thread.state("?subgraphs=true"),
      history: await thread.history(),
      runs: await thread.runs(),
    }),
    open: async () => Object.values((await thread.get()).interrupts).flat(),
    async reaches(status) {
      await followLog(server, `thread is ${status}`, async () => (await thread.get()).status === status || undefined);
    },
  };
  return thread;
}

/** A server whose log tells of the ends of runs, ticks of crons, deadlines, sweeps and webhooks. */
type Logging = Pick<TestServer, "logs" | "whenLogged">;

/**
 * Looks at once, and after each entry of the server's log, until there is a value.
 * @throws {Error} after a minute without entries
 */
export async function followLog<T>(
  { logs, whenLogged }: Logging,
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    const { length: seen } = logs;
    const found = await look();
    if (found !== undefined) return found;
    await whenLogged(what, ({ length }) => length > seen);
  }
}

/** What is there at once is seen at once; what takes a second costs few looks, each of which may be a request. */
const POLL_MS_MIN = 5;
const POLL_MS_MAX = 50;
const POLLS_MAX = 1_200;

/** Polls until there is a value. @throws {Error} after a minute or more. */
export async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  let pollMs = POLL_MS_MIN;
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    pollMs = Math.min(POLL_MS_MAX, pollMs * 1.5);
  }
  throw new Error(`waited in vain: ${what}`);
}

export function readProblem(answer: Answer): WireProblem {
  return answer.body;
}

/** @throws {AssertionError} unless the run paused at questions. */
export function listQuestions(result: Result): readonly WireInterrupt[] {
  assert.ok(result.__interrupt__ !== undefined, `the run did not pause: ${JSON.stringify(result)}`);
  return result.__interrupt__;
}

export function onlyQuestion(result: Result): WireInterrupt {
  const questions = listQuestions(result);
  const [question] = questions;
  assert.ok(question !== undefined && questions.length === 1, `${questions.length} questions are open, not one`);
  return question;
}

export interface Notes {
  /** Goes into the input, under the same name. */
  readonly notes: string;
  readonly lines: () => readonly string[];
  readonly count: (line: string) => number;
  /** Resolves once a line is there. */
  reached(line: string, times?: number): Promise<void>;
}

let notesMade = 0;

/** A file in which nodes of test/graphs/ leave a line each time they run. */
export function newNotes(folder: string): Notes {
  const file = join(folder, `notes-${++notesMade}.txt`);
  const lines = (): readonly string[] => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []);
  const count = (line: string): number => lines().filter((one) => one === line).length;
  return {
    notes: file,
    lines,
    count,
    reached: (line, times = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (count(line) < times) return;
          watcher.close();
          resolve();
        };
        const watcher = watch(folder, look);
        look();
      }),
  };
}
