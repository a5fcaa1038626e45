// History: a few clients on a few threads of two simulated servers, from one seed.
import { Client } from "pg";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { threadRecord } from "@holdpoint/server/model/testkit.ts";
import type { WaitResult } from "@holdpoint/server/context/services.ts";
import { cancelRuns } from "@holdpoint/server/runs/cancel-runs.ts";
import { startRun } from "@holdpoint/server/runs/accept/start-run.ts";
import { waitForStarted } from "@holdpoint/server/runs/wait-for-run.ts";
import { registerGraphs } from "@holdpoint/server/threads/assistants/assistants.ts";
import { deleteThread } from "@holdpoint/server/threads/delete-threads.ts";
import type { Call, Op, Result } from "../histories/linearizable.ts";
import type { Fault } from "./faults.ts";
import { Laws } from "./laws.ts";
import { buildCall, CALLER, type Cluster, openServer, type Server } from "./simulated-server.ts";
import { type Process, World } from "./world.ts";

/** Many clients on one thread, or fewer on two. */
const SIZES = [
  { threads: 1, clients: 4, calls: 4 },
  { threads: 2, clients: 2, calls: 4 },
] as const;
const ONE_THREAD_CHANCE = 0.7;
const STEPS_MAX = 2500;
const STOP_CHANCE = 0.4;
const BETWEEN_MS = 20;
const READ_EVERY = 25;
/** Tables of the deployment. */
const KEPT_TABLES = ["meta", "assistants", "assistant_versions", "fingerprints"];

export interface History {
  /** Laws that did not hold. */
  readonly found: readonly string[];
  readonly calls: readonly Call[];
  readonly steps: readonly string[];
}

/** A database for one history after the other. */
export class Simulation {
  private readonly uri: string;
  private readonly admin: Client;
  private histories = 0;

  constructor(uri: string) {
    this.uri = uri;
    this.admin = new Client({ connectionString: uri });
  }

  async open(): Promise<void> {
    await this.admin.connect();
    const { world, servers } = await this.openCluster(0, null);
    for (const { agent } of servers.slice(0, 1)) await registerGraphs(agent);
    await this.close(world);
  }

  async readVersion(): Promise<string> {
    const { rows } = await this.admin.query<{ readonly server_version: string }>("SHOW server_version");
    return `PostgreSQL ${rows[0]?.server_version}, Node.js ${process.versions.node}`;
  }

  stop(): Promise<void> {
    return this.admin.end();
  }

  async play(seed: number, fault: Fault | null = null): Promise<History> {
    const cluster = await this.openCluster(seed, fault);
    const { world, laws, servers } = cluster;
    const outside = world.newProcess("clients");
    const size = SIZES[world.random() < ONE_THREAD_CHANCE ? 0 : 1];
    const threads = Array.from({ length: size.threads }, () => cluster.newId());
    await servers[0]?.agent.storage.transaction(async (tx) => {
      for (const threadId of threads) await tx.insertThread(threadRecord({ threadId }));
    });
    world.isOpen = false;
    for (const server of servers) void server.begin();
    let left = size.threads * size.clients;
    for (const [at, threadId] of threads.entries()) {
      laws.calls.set(threadId, []);
      for (let client = 0; client < size.clients; client++)
        void makeCalls(cluster, outside, { threadId, client, left: size.calls, mark: `${at}.${client}` })
          .catch((error: unknown) => laws.broken(`a client failed: ${String((error as Error).stack)}`))
          .finally(() => void left--);
    }
    if (world.random() < STOP_CHANCE) stopLater(cluster, outside);
    try {
      await world.run(
        () => left === 0 || laws.found.length > 0,
        STEPS_MAX,
        async () => {
          if (world.steps.length % READ_EVERY === 0)
            for (const threadId of threads) await laws.readEvents(this.admin, threadId);
        },
      );
      await laws.judge(this.admin);
    } catch (error) {
      laws.broken(String((error as Error).stack));
    }
    await this.close(world);
    return { found: laws.found, calls: [...laws.calls.values()].flat(), steps: world.steps };
  }

  private async openCluster(seed: number, fault: Fault | null): Promise<Cluster> {
    const world = new World(seed, this.admin);
    const prefix = (++this.histories).toString(16).padStart(8, "0");
    let ids = 0;
    const newId = (): string => `${prefix}-0000-7000-8000-${(++ids).toString(16).padStart(12, "0")}`;
    const shared = { uri: this.uri, world, laws: new Laws(), fault, newId };
    const cluster: Cluster = { ...shared, servers: [], deadWorkers: [] };
    for (const name of ["A", "B"]) cluster.servers.push(await openServer(cluster, name));
    return cluster;
  }

  private async close(world: World): Promise<void> {
    for (const process of world.processes) world.kill(process);
    await world.settle();
    // Most tables were never written to: even their empty DELETE is parsed, planned and run each time.
    const { rows } = await this.admin.query<{ readonly name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'holdpoint'::regnamespace AND relkind = 'r'
       AND relname <> ALL($1) AND pg_relation_size(oid) > 0`,
      [KEPT_TABLES],
    );
    await this.admin.query(rows.map(({ name }) => `DELETE FROM holdpoint.${name}`).join("; "));
  }
}

/** Kills a process once; another one begins in its place. */
function stopLater(cluster: Cluster, outside: Process): void {
  const { world, servers, deadWorkers } = cluster;
  world.clock(outside).after(20 + world.random() * 100, () => {
    const at = Math.floor(world.random() * servers.length);
    const gone = servers[at];
    if (gone === undefined) return;
    world.kill(gone.process);
    deadWorkers.push(gone.workerId());
    world.steps.push(`${gone.process.name} killed`);
    void openServer(cluster, `${gone.process.name}'`).then((server) => {
      servers[at] = server;
      void server.begin();
    });
  });
}

interface Speaker {
  readonly threadId: string;
  readonly client: number;
  /** Number of its calls. */
  readonly left: number;
  /** Begins those of its runs. */
  readonly mark: string;
}

/** Nothing took place, for a reason that passes. */
const PASSING = new Set(["thread_busy", "storage_unavailable", "worker_not_listed", "overloaded"]);

async function makeCalls(cluster: Cluster, outside: Process, speaker: Speaker): Promise<void> {
  const { world, servers } = cluster;
  for (let { left } = speaker; left > 0; left--) {
    await new Promise<void>((resolve) => world.clock(outside).after(world.random() * BETWEEN_MS, resolve));
    const server = servers[Math.floor(world.random() * servers.length)];
    if (server === undefined || server.process.dead) continue;
    await makeCall(cluster, server, { ...speaker, mark: `${speaker.mark}.${left}` });
  }
}

async function makeCall(cluster: Cluster, server: Server, speaker: Speaker): Promise<void> {
  const { world, laws } = cluster;
  const { threadId, client, mark } = speaker;
  const questions = knownQuestions(laws.calls.get(threadId) ?? []);
  const asked = questions[Math.floor(Math.sqrt(world.random()) * questions.length)]; // a late one more often
  const op = chooseOp(world.random(), asked);
  const startedAt = world.tick();
  const asks = op.verb === "start" || op.verb === "answer";
  const state = { accepted: null as boolean | null };
  const outcome = await Promise.race([
    perform(cluster, server, { op, mark, threadId, state }),
    server.process.died.promise,
  ]);
  if (asks) laws.asked.push({ mark, threadId, accepted: state.accepted });
  const result = outcome === "died" ? "lost" : outcome;
  if (result === null) return;
  const given = typeof result === "string" ? result : "ok";
  const question = typeof result === "string" ? null : result.question;
  laws.calls.get(threadId)?.push({
    op: op.verb === "start" ? { ...op, question } : op,
    client,
    startedAt,
    endedAt: given === "lost" ? Infinity : world.tick(),
    result: given,
  });
}

function knownQuestions(calls: readonly Call[]): readonly string[] {
  return calls.flatMap(({ op }) => (op.verb === "start" && op.question !== null ? [op.question] : []));
}

function chooseOp(chance: number, asked: string | undefined): Op {
  if (chance < 0.03) return { verb: "delete" };
  if (chance < 0.12) return { verb: "cancel" };
  return chance < 0.4 || asked === undefined ? { verb: "start", question: null } : { verb: "answer", question: asked };
}

interface Performed {
  readonly op: Op;
  readonly mark: string;
  readonly threadId: string;
  readonly state: { accepted: boolean | null };
}

/** @returns the result, with the question of a start; null for a passing refusal */
async function perform(
  { fault, laws }: Cluster,
  { agent }: Server,
  { op, mark, threadId, state }: Performed,
): Promise<Result | { readonly question: string | null } | null> {
  try {
    if (op.verb === "delete") await deleteThread(agent, CALLER, threadId);
    else if (op.verb === "cancel") {
      const cancellation = { caller: CALLER, action: "interrupt", reason: "requested", scope: null } as const;
      await cancelRuns(agent, cancellation, { threadId, status: "all" });
    } else {
      const given =
        op.verb === "start"
          ? { input: {}, command: null }
          : { input: undefined, command: { resume: { [op.question]: "yes" } } };
      const started = await startRun(agent, CALLER, { threadId, call: buildCall(mark, given) });
      state.accepted = true;
      if (fault === "an accepted answer is 503") await agent.storage.read((tx) => tx.run(threadId, started.run.runId));
      return describeEnd(laws, op, await (await waitForStarted(agent, started)).result);
    }
    return "ok";
  } catch (error) {
    if (!(error instanceof ApiError)) {
      laws.broken(`${op.verb} failed: ${String((error as Error).stack)}`);
      return "lost";
    }
    if (error.code === "commit_unknown") return "lost";
    state.accepted = false;
    return PASSING.has(error.code) ? null : "refused";
  }
}

function describeEnd(laws: Laws, op: Op, result: WaitResult): Result | { readonly question: string | null } {
  if (result.kind === "gone") return op.verb === "answer" && result.why !== "deleted" ? "lost" : { question: null };
  const { run, interrupts } = result.end;
  if (run.endedBy === "cancel") return "cancelled";
  if (run.error !== null) {
    if (run.error.error !== "StorageError") laws.broken(`a run failed: ${JSON.stringify(run.error)}`);
    return "lost";
  }
  return { question: op.verb === "start" ? (interrupts[0]?.interruptId ?? null) : null };
}
