// A server with fault injection, and helpers of the fault tests: effects of nodes, gates, seeds, polls.
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, removeFolder, ROOT, startServer, temporaryFolder, type Answer, type TestServer } from "../server.ts";
import type { ServerHere } from "../server-here.ts";

/** Long forms run every case as often as the promises say; the short ones fit into `npm run test:rest`. */
export const FULL = process.env["HOLDPOINT_FAULTS"] === "full";

/** The servers of this run keep their data in PostgreSQL. */
export const ON_POSTGRES = process.env["HOLDPOINT_TEST_STORAGE"] === "postgres";

/** Limit of every wait here, and of a thread's busy time after a restart. */
const BOUND_MS = 60_000;

/** Limit of the wait for a fault. */
const FAULT_BOUND_MS = 30_000;

const GRAPHS = join(ROOT, "test", "faults", "graphs", "langgraph.json");

export interface Fault {
  /** See faults.ts. */
  readonly point: string;
  /** `throw`: the disk is full. `eio`: the write of the file fails. */
  readonly action: "kill" | "throw" | "eio";
  /** Which passing of the point, from 1. */
  readonly nth?: number;
  /** How many passings in a row. */
  readonly times?: number;
  /** The rollback that follows fails as well, once. */
  readonly rollbackToo?: boolean;
  /** Only for this thread. */
  readonly thread?: string;
}

export interface Effect {
  readonly thread: string;
  readonly run: string;
  readonly node: string;
  readonly value: unknown;
  /** Id of the process that had the run. */
  readonly pid: number;
}

export interface Question {
  readonly id: string;
  readonly value: unknown;
  readonly ns: readonly string[];
}

/** One data folder, the server process that has it at present, and the faults it is to meet. */
export class Bench {
  readonly folder = temporaryFolder();
  readonly dataDir: string;
  private readonly env: Readonly<Record<string, string>>;
  private process: TestServer | null = null;
  private isAdopted = false;
  private here: ServerHere | null = null;
  starts = 0;

  constructor(env: Readonly<Record<string, string>> = {}, dataDir?: string) {
    this.dataDir = dataDir ?? join(this.folder, "data");
    this.env = env;
    writeFileSync(this.effectsFile, "");
  }

  private get effectsFile(): string {
    return join(this.folder, "effects.jsonl");
  }
  private get faultFile(): string {
    return join(this.folder, "fault.json");
  }

  /** Calls go to a server of another owner, which alone ends it. */
  adopt(server: ServerHere): void {
    this.process = server as TestServer;
    this.isAdopted = true;
  }

  get server(): TestServer {
    assert.ok(this.process !== null, "the bench has no server");
    return this.process;
  }

  async start(
    env: Readonly<Record<string, string>> = {},
    more: { readonly under?: readonly string[]; readonly dataDir?: string } = {},
  ): Promise<TestServer> {
    this.starts++;
    this.process = await startServer({
      dataDir: more.dataDir ?? this.dataDir,
      config: GRAPHS,
      nodeArgs: ["--import", join(ROOT, "test", "harness", "faults", "faults.ts")],
      env: {
        FAULT_TEST_FOLDER: this.folder,
        HOLDPOINT_TEST_FAULT_FILE: this.faultFile,
        LOG_LEVEL: "info",
        ...this.env,
        ...env,
      },
      ...(more.under === undefined ? {} : { under: more.under }),
    });
    return this.process;
  }

  /** In the process of the test, at a twentieth of the cost: for a last start, which meets no fault. */
  async startHere(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const { startServerHere } = await import("../server-here.ts");
    process.env["FAULT_TEST_FOLDER"] = this.folder; // the graphs read it at each step
    const given = { LOG_LEVEL: "info", ...this.env, ...env };
    this.here = await startServerHere({ dataDir: this.dataDir, config: GRAPHS, env: given });
    this.adopt(this.here);
  }

  arm(fault: Fault): void {
    writeFileSync(this.faultFile, JSON.stringify(fault));
  }
  disarm(): void {
    rmSync(this.faultFile, { force: true });
  }

  /** The process dies of its fault; the next one starts without it. */
  async restartAfterFault(start: () => Promise<unknown> = () => this.start()): Promise<void> {
    const dead = within("the process dies of its fault", this.server.exited, FAULT_BOUND_MS);
    const [, signal] = await dead.catch(async (error: unknown) => {
      this.disarm();
      await this.killAndRestart(); // so that this failure is the only one
      throw error;
    });
    assert.equal(signal, "SIGKILL", `the server was to be killed:\n${this.server.output()}`);
    this.disarm();
    await start();
  }
  async killAndRestart(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.server.kill();
    await this.start(env);
  }

  /** Nodes of this thread (or of "all" threads) stop at their gates until release(). */
  hold(thread: string, node: string): void {
    mkdirSync(join(this.folder, "gates"), { recursive: true });
    appendFileSync(join(this.folder, "gates", `${thread}-${node}`), "");
  }
  release(thread: string, node: string): void {
    rmSync(join(this.folder, "gates", `${thread}-${node}`), { force: true });
  }
  /** Effects of the nodes, across all processes. */
  effects(thread?: string): readonly Effect[] {
    return readFileSync(this.effectsFile, "utf8")
      .split("\n")
      .slice(0, -1) // a line is whole when its end is there: a node may be writing the next one
      .map((line) => JSON.parse(line) as Effect)
      .filter((effect) => thread === undefined || effect.thread === thread);
  }
  listEffects(thread: string, node: string): readonly Effect[] {
    return this.effects(thread).filter((effect) => effect.node === node);
  }

  /** Waits for this effect of a node. */
  sees(thread: string, node: string, times = 1, boundMs?: number): Promise<void> {
    return this.whenEffects(`${node} on ${thread}`, () => this.listEffects(thread, node).length >= times, boundMs);
  }
  /** Waits until the effects are such. */
  whenEffects(what: string, holds: () => boolean, boundMs?: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (holds()) resolve();
    };
    const watcher = watch(this.effectsFile, look);
    look();
    return within(what, promise, boundMs).finally(() => watcher.close());
  }

  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return within(`an answer to ${method} ${path}`, call(this.server, method, path, body, headers));
  }
  /** Null when the connection broke: the call may have had its effect, or not. */
  async attempt(method: string, path: string, body?: unknown): Promise<Answer | null> {
    try {
      return await this.call(method, path, body);
    } catch {
      return null;
    }
  }
  async post(path: string, body: unknown): Promise<Answer> {
    const answer = await this.call("POST", path, body);
    assert.equal(answer.status, 200, `POST ${path}: ${answer.text}`);
    return answer;
  }
  async newThread(): Promise<string> {
    const { body } = await this.post("/threads", {});
    return (body as { readonly thread_id: string }).thread_id;
  }
  /** Runs a graph on a new thread until it pauses. */
  async pause(graph: string): Promise<{ readonly thread: string; readonly question: Question }> {
    const thread = await this.newThread();
    const { text, body } = await this.post(`/threads/${thread}/runs/wait`, { assistant_id: graph, input: {} });
    return { thread, question: only(questionsIn(body), text) };
  }
  resume(thread: string, graph: string, value: unknown): Promise<Answer> {
    return this.call("POST", `/threads/${thread}/runs/wait`, resumeBody(graph, value));
  }
  async status(thread: string): Promise<string> {
    const { body, status, text } = await this.call("GET", `/threads/${thread}`);
    assert.equal(status, 200, text);
    return (body as { readonly status: string }).status;
  }
  /** Waits until the thread has no run in progress. @returns its state then */
  async settled(thread: string): Promise<string> {
    for (;;) {
      const status = await this.status(thread);
      if (status !== "busy") return status;
      const active = (await this.runs(thread)).find((run) => run.status === "running" || run.status === "pending");
      if (active !== undefined) await this.call("GET", `/threads/${thread}/runs/${active.run_id}/join`);
    }
  }
  async questions(thread: string): Promise<readonly Question[]> {
    const { body } = await this.call("GET", `/threads/${thread}/state`);
    return (body as { readonly interrupts: readonly Question[] }).interrupts;
  }
  async values(thread: string): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await this.call("GET", `/threads/${thread}/state`);
    return (body as { readonly values: Readonly<Record<string, unknown>> }).values;
  }
  async runs(thread: string): Promise<readonly { readonly run_id: string; readonly status: string }[]> {
    const { body } = await this.call("GET", `/threads/${thread}/runs?limit=1000`);
    return body;
  }

  async end(): Promise<void> {
    await this.here?.stop();
    if (!this.isAdopted && this.process?.process.exitCode === null) await this.process.kill();
    removeFolder(this.folder);
  }
}

export function resumeBody(graph: string, value: unknown): object {
  return { assistant_id: graph, command: { resume: value } };
}

export function questionsIn(body: unknown): readonly Question[] {
  return (body as { readonly __interrupt__?: readonly Question[] }).__interrupt__ ?? [];
}

export function only<T>(list: readonly T[], context: string): T {
  assert.equal(list.length, 1, context);
  return list[0] as T;
}

/** The parts that a restart must preserve. */
export function identity({ id, value, ns }: Question): Question {
  return { id, value, ns };
}

const POLL_MS = 5;

/** Polls until `check` holds; fails after the bound. */
export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  boundMs: number = BOUND_MS,
): Promise<void> {
  const giveUpAt = performance.now() + boundMs;
  while (!(await check())) {
    assert.ok(performance.now() < giveUpAt, `not within ${boundMs} ms: ${what}`);
    await pause(POLL_MS);
  }
}

export async function within<T>(what: string, promise: Promise<T>, ms: number = BOUND_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms: ${what}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** A seeded source of numbers in [0, 1): mulberry32. HOLDPOINT_TEST_SEED repeats a run. */
export function seeded(): { readonly seed: number; readonly next: () => number } {
  const given = process.env["HOLDPOINT_TEST_SEED"];
  const seed = given === undefined ? Math.floor(Math.random() * 0x1_0000_0000) : Number(given);
  let state = seed;
  return {
    seed,
    next() {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
    },
  };
}

/** Runs `work` for each item, at most `width` at a time. */
export async function each<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
