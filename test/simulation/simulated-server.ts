// Simulated server: acceptance, worker, queue and events of the server on a storage over simulated connections. Only
// the graph, and what no law is about, are stand-ins.
import { ANONYMOUS } from "@holdpoint/server/auth/authorize.ts";
import { createConfigurableHeaders } from "@holdpoint/server/auth/configurable-headers.ts";
import type { AgentContext } from "@holdpoint/server/context/context.ts";
import { createEventHub, type EventHub } from "@holdpoint/server/events/event-hub.ts";
import type { Engine, LeaseWatcher, Notice, Storage } from "@holdpoint/server/ports/ports.ts";
import { GRANTED } from "@holdpoint/server/auth/authorize.ts";
import type { RunCall } from "@holdpoint/server/runs/accept/run-request.ts";
import { createWorker } from "@holdpoint/server/runs/execute/worker.ts";
import { VALUES_ONLY } from "@holdpoint/server/model/model.ts";
import { syncWithPeers } from "@holdpoint/server/server/peer-sync.ts";
import { createLocalWakes } from "@holdpoint/server/storage/local/wakes.ts";
import { createRowQueue } from "@holdpoint/server/storage/postgres/engine/queue.ts";
import { createPostgresStorage } from "@holdpoint/server/storage/postgres/storage.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { choosePatch, type Fault, plantInStorage } from "./faults.ts";
import type { Laws } from "./laws.ts";
import { createScriptedGraphs, GRAPH } from "./scripted-graph.ts";
import { simulateClient } from "./simulated-client.ts";
import type { Process, World } from "./world.ts";

/** What the servers of a history share. */
export interface Cluster {
  readonly uri: string;
  readonly world: World;
  readonly laws: Laws;
  readonly fault: Fault | null;
  readonly newId: () => string;
  readonly servers: Server[];
  /** Ids of workers whose process was killed. */
  readonly deadWorkers: string[];
}

export interface Server {
  readonly process: Process;
  readonly workerId: () => string;
  readonly agent: AgentContext;
  /** Registers its worker, takes over the runs of dead ones, and claims runs. */
  begin(): Promise<void>;
  hear(notice: Notice): void;
  look(): void;
}

/** A defect, also of a stand-in: parts of the server catch it, log it and go on. */
const DEFECT = /is not a function|Cannot read|is not iterable/;

function createLog(laws: Laws): Log {
  const hear = (event: string, fields?: object): void => {
    const line = `${event} ${JSON.stringify(fields)}`;
    if (DEFECT.test(line)) laws.broken(line);
  };
  return { debug: hear, info: hear, warning: hear, error: hear };
}

export const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };
const DAY_MS = 86_400_000;
const NOTICE_MS = 2;
const SCAN_MS = 1500;
const STEP_MS = 15;
const KEPT = { keptMs: DAY_MS, resumableKeptMs: DAY_MS, protocolKeptMs: DAY_MS, eventsMax: 10_000, bytesMax: 1e8 };
const WORKER = { slots: 3, timeoutMs: DAY_MS, graceMs: 1000, crashesMax: 1000, askAgainMax: 0 };

/** A server whose storage is open. */
export async function openServer(cluster: Cluster, name: string): Promise<Server> {
  const { world, laws, fault, newId } = cluster;
  const process = world.newProcess(name);
  const clock = world.clock(process);
  const log = createLog(laws);
  const storage = await openStorage(cluster, process, log);
  const pause = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const stop = clock.after(world.random() * STEP_MS, resolve);
      signal.addEventListener("abort", () => (stop(), resolve()), { once: true });
    });
  const graphs = createScriptedGraphs({ storage, laws, random: world.random, newId, pause });
  let workerId = newId();
  const { engine, watcher, hearers } = createEngine(cluster, process, () => workerId);
  const hub = createEventHub({ wakes: engine.wakes, clock, limits: KEPT });
  const events = noteEvents(hub, laws, fault);
  const nothing = (): undefined => undefined;
  const notifier = { notify: async () => undefined, escalated: async () => undefined, takeStored: () => false };
  const worker = createWorker(WORKER, {
    storage,
    graphs,
    events,
    engine,
    clock,
    notifier,
    log,
    answerByPolicy: async () => null,
    onRunEnd: nothing,
    onPending: nothing,
  });
  const known: Partial<AgentContext> = {
    storage,
    graphs,
    worker,
    events,
    notifier,
    clock,
    newId,
    log,
    access: null,
    headers: createConfigurableHeaders(null),
    inbox: { added: nothing, changed: nothing, closed: nothing, deleted: nothing, changedElsewhere: nothing } as never,
    webhooks: { check: nothing, wake: nothing },
    limits: { answerBytesMax: 1e6, memberBytesMax: 1e6, threadTtl: { ttlMs: null, ttlStrategy: "delete" } } as never,
    queueLimit: { isFull: async () => false },
    wakeCrons: nothing,
  };
  const agent = known as AgentContext;
  const scan = async (): Promise<void> => {
    for (const id of cluster.deadWorkers) await watcher.current?.takeOver(0, id).catch(nothing);
    clock.after(SCAN_MS, () => void scan());
  };
  return {
    process,
    workerId: () => workerId,
    agent,
    async begin() {
      const add = (): Promise<boolean> =>
        storage
          .transaction((tx) => tx.addWorker(workerId))
          .then(
            () => true,
            () => false,
          );
      while (!(await add())) workerId = newId(); // as the lease does: a commit may have taken place
      await syncWithPeers(agent, engine.peers).start();
      await worker.start();
      await scan();
    },
    hear: (notice) => hearers.notice(notice),
    look: () => hearers.queued(),
  };
}

const STARTS_MAX = 5;

/** A start has a limit in the time of the machine, which is no decision of the seed. */
export async function startAgain<T extends { start(): Promise<void> }>(open: () => T): Promise<T> {
  for (let left = STARTS_MAX - 1; ; left--) {
    const opened = open();
    try {
      await opened.start();
      return opened;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/** Its waits take place in the time of the world. */
async function openStorage({ uri, world, fault }: Cluster, process: Process, log: Log): Promise<Storage> {
  const Client = simulateClient(world, process, choosePatch(fault));
  const clock = world.clock(process);
  world.opening++;
  const opened = await startAgain(() =>
    createPostgresStorage({ uri, poolMax: 4, versions: VERSIONS, clock, log, Client }),
  );
  process.isHeld = true;
  world.opening--;
  return plantInStorage(opened, fault);
}

function createEngine({ world, servers, laws }: Cluster, process: Process, workerId: () => string) {
  const clock = world.clock(process);
  const watcher: { current: LeaseWatcher | null } = { current: null };
  const hearers: { notice: (notice: Notice) => void; queued: () => void } = {
    notice: () => undefined,
    queued: () => undefined,
  };
  const others = (tell: (server: Server) => void): void => {
    for (const server of servers)
      if (server.process !== process) world.clock(server.process).after(NOTICE_MS, () => tell(server));
  };
  const holds = (): boolean => true;
  const engine: Engine = {
    wakes: createLocalWakes(),
    peers: {
      alone: false,
      notify: (notice) => others((server) => server.hear(notice)),
      listen: (onNotice) => void (hearers.notice = onNotice),
    },
    lease: {
      name: "lease",
      workerId,
      holds,
      watch: (given) => void (watcher.current = given),
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    },
    queue: createRowQueue({
      clock,
      log: createLog(laws),
      holds,
      notify: () => others((server) => server.look()),
      onQueued: (callback) => void (hearers.queued = callback),
    }),
  };
  return { engine, watcher, hearers };
}

/** Each event reaches a reader in the process of its run. */
function noteEvents(hub: EventHub, laws: Laws, fault: Fault | null): EventHub {
  return {
    ...hub,
    open(run, start) {
      const isPlanted = fault === "ids of events are given twice";
      const log = hub.open(run, isPlanted ? { ...start, firstId: start.events } : start);
      return {
        ...log,
        append(event) {
          laws.publish(run.runId, log.nextId(), `${run.attempt} ${JSON.stringify(event.data)}`);
          log.append(event);
        },
      };
    },
  };
}

/** A call that starts a run with this mark. */
export function buildCall(mark: string, given: Pick<RunCall, "input" | "command">): RunCall {
  return {
    ...given,
    assistantId: GRAPH,
    config: {},
    context: null,
    metadata: { mark },
    interruptBefore: null,
    interruptAfter: null,
    multitaskStrategy: "reject",
    onPaused: "abandon",
    ifNotExists: "reject",
    durability: "async",
    stream: VALUES_ONLY,
    checkpointId: null,
    subgraph: null,
    webhook: null,
    notify: null,
    afterSeconds: 0,
    idempotencyKey: null,
    requestHash: mark,
    reach: { threads: null, assistants: null },
    rights: { answer: GRANTED },
  };
}

export const CALLER = ANONYMOUS;
