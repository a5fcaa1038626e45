// Tests of several servers on one database, with faults in some of them.
//   machines-workers.1. Of the callers that answer one pause at two servers, one gets 200 and all others 409; its side
//        effect happens once.
//   machines-workers.2. A server frozen for twice its lease writes nothing more for its former runs: no checkpoint,
//        status, event or webhook. It starts no further node of them, stays up, and accepts new runs.
//   machines-workers.3. Another server takes over the runs of a killed one. Steps with a checkpoint do not run again,
//        and the answer in such a run counts once.
//   machines-workers.4. A server without its lease accepts runs for the others.
//   machines-workers.5. A cron tick has exactly one run, with any number of polling servers and kills. The run of a
//        tick continues after a kill of its server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { startWebhookReceiver, type WebhookReceiver } from "../fakes/webhook-receiver.ts";
import { FULL, pause, resumeBody, until, within } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { readAudit } from "../harness/inbox.ts";
import { beforeDrop } from "../harness/postgres/databases.ts";
import { call, type TestServer } from "../harness/server.ts";
import { assertExactlyOnce, ticksIn, type Tick } from "../harness/ticks.ts";

const CALLERS = 100;
const RESUME_ROUNDS = FULL ? 200 : 1;
/** Servers that are struck at the same time, and how often. Each has RUNS runs. */
const [VICTIMS, BATCHES, RUNS] = FULL ? [10, 20, 2] : [1, 1, 2];
/** Length of lease.ts. */
const LEASE_MS = 7000;
/** Far longer than a takeover: the limit must detect hangs, not a busy machine. */
const PATIENCE_MS = 90_000;
const LOOK_MS = 100;

const env = { LANGGRAPH_POSTGRES_POOL_MAX_SIZE: "4", N_JOBS_PER_WORKER: "50", BG_JOB_MAX_RETRIES: "100" };
const fleet = new Fleet();
const { bench } = fleet;
let survivor: TestServer;
let victims: TestServer[] = [];
let receiver: WebhookReceiver;
let db: Client;

before(async () => {
  survivor = await fleet.start("all", env);
  fleet.use(survivor);
  while (victims.length < VICTIMS) {
    const wanted = Math.min(2, VICTIMS - victims.length);
    victims = [...victims, ...(await Promise.all(Array.from({ length: wanted }, () => fleet.start("all", env))))];
  }
  receiver = await startWebhookReceiver();
  db = new Client({ connectionString: await fleet.database() });
  await db.connect();
  beforeDrop(() => db.end());
});
after(async () => {
  await receiver.close();
  await fleet.end();
});

test(`of ${CALLERS} callers that answer one pause at two servers, one wins (${RESUME_ROUNDS} rounds; machines-workers.1)`, async () => {
  const servers = [survivor, victims[0] as TestServer];
  let refused = 0;
  for (let round = 0; round < RESUME_ROUNDS; round++) {
    const { thread } = await bench.pause("ask");
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, (_, caller) =>
        call(servers[caller % 2] as TestServer, "POST", `/threads/${thread}/runs/wait`, resumeBody("ask", caller)),
      ),
    );
    const winners = answers.flatMap(({ status }, caller) => (status === 200 ? [caller] : []));
    const losers = answers.filter(({ status }) => status === 409);
    assert.deepEqual([winners.length, losers.length], [1, CALLERS - 1], answers.map(({ status }) => status).join(" "));
    assert.deepEqual(await bench.values(thread), { log: ["prepared", winners[0], "recorded"] });
    assert.deepEqual(
      bench.listEffects(thread, "answered").map(({ value }) => value),
      winners,
    );
    assert.equal((await bench.runs(thread)).length, 2);
    refused += losers.length;
  }
  console.log(`double resume at two servers: ${RESUME_ROUNDS} rounds, ${RESUME_ROUNDS} accepted, ${refused} refused`);
});

interface Struck {
  readonly thread: string;
  readonly run: string;
  readonly server: TestServer;
}

/** A run that a server executes: it has an answer, and its node waits at its gate. */
async function catchInHand(server: TestServer): Promise<Struck> {
  for (;;) {
    const struck = await inHandOfSome(server);
    const [effect] = bench.listEffects(struck.thread, "answered");
    if (effect?.pid === server.process.pid) return struck;
    bench.release(struck.thread, "ask"); // it had not yet found the queue empty, so another was faster
    await bench.settled(struck.thread);
  }
}

async function inHandOfSome(server: TestServer): Promise<Struck> {
  const { thread } = await bench.pause("ask");
  bench.hold(thread, "ask");
  const telling = { webhook: `${receiver.url}/${thread}`, stream_mode: ["updates"], stream_resumable: true };
  const body = { ...resumeBody("ask", thread), ...telling };
  const started = await call(server, "POST", `/threads/${thread}/runs`, body);
  assert.equal(started.status, 200, started.text);
  await bench.sees(thread, "answered");
  return { thread, run: (started.body as { readonly run_id: string }).run_id, server };
}

const inHandOfAll = async (): Promise<readonly Struck[]> =>
  (
    await Promise.all(victims.map((server) => Promise.all(Array.from({ length: RUNS }, () => catchInHand(server)))))
  ).flat();

async function rows<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
  return (await db.query<Row>(text, [...values])).rows;
}

/** From the last heartbeat of a run's worker to its next claim. */
async function takeOver(struck: readonly Struck[]): Promise<number> {
  const ids = struck.map(({ run }) => run);
  const beats = await rows<{ readonly run_id: string; readonly beat: string }>(
    `SELECT r.run_id, extract(epoch FROM w.beat_at) * 1000 AS beat
     FROM holdpoint.runs AS r JOIN holdpoint.workers AS w USING (worker_id) WHERE r.run_id = ANY ($1)`,
    [ids],
  );
  assert.equal(beats.length, ids.length);
  for (const { thread } of struck) await bench.sees(thread, "answered", 2, PATIENCE_MS);
  const claims = await rows<{ readonly run_id: string; readonly attempt: number; readonly at: string }>(
    "SELECT run_id, attempt, updated_at AS at FROM holdpoint.runs WHERE run_id = ANY ($1)",
    [ids],
  );
  const claimedAt = new Map(claims.map(({ run_id, at }) => [run_id, Number(at)]));
  for (const { attempt } of claims) assert.equal(attempt, 2);
  return Math.max(...beats.map(({ run_id, beat }) => (claimedAt.get(run_id) ?? 0) - Number(beat)));
}

/** The traces of each run, from any worker. */
async function checkRun({ thread, run }: Struck): Promise<void> {
  assert.equal(await bench.settled(thread), "idle");
  assert.deepEqual(await bench.values(thread), { log: ["prepared", thread, "recorded"] });
  const did = (node: string): number => bench.listEffects(thread, node).length;
  assert.deepEqual([did("prepare"), did("answered"), did("record")], [1, 2, 1]);
  assert.notEqual(bench.listEffects(thread, "record")[0]?.pid, bench.listEffects(thread, "answered")[0]?.pid);
  assert.deepEqual(
    (await bench.runs(thread)).map(({ status }) => status),
    ["success", "interrupted"],
  );
  const history = await bench.call("GET", `/threads/${thread}/history?limit=100`);
  assert.equal((history.body as readonly unknown[]).length, 5, "no checkpoint too many");
  const { text } = await bench.call("GET", `/threads/${thread}/runs/${run}/stream?stream_mode=updates`);
  const told = [...text.matchAll(/^data: \{"(\w+)":\{"log"/gm)].map(([, node]) => node);
  assert.deepEqual(told, ["ask", "record"], `each step is told once:\n${text}`);
  const events = await receiver.came(`/${thread}`);
  assert.equal(new Set(events.map(({ event }) => JSON.stringify([event.run_id, event.status]))).size, 1);
  assert.equal(events[0]?.event.status, "success");
  const answered = (await readAudit(bench.server, thread)).filter(({ action }) => action === "answered");
  assert.equal(answered.length, 1);
}

const signal = (name: NodeJS.Signals): void => {
  for (const { process } of victims) process.kill(name);
};

const timesListed = ({ logs }: TestServer): number =>
  logs.filter(({ event }) => event === "worker_registered_again").length;

for (const order of ["after its runs have ended elsewhere", "while its runs are in hand elsewhere"] as const) {
  const batches = FULL ? BATCHES / 2 : order === "while its runs are in hand elsewhere" ? BATCHES : 0;
  if (batches === 0) continue; // the other order has everything that can go wrong in this one, and more
  test(`a server that is frozen comes back ${order} (${batches * VICTIMS} rounds; machines-workers.2)`, async () => {
    let longest = 0;
    for (let batch = 0; batch < batches; batch++) {
      const struck = await inHandOfAll();
      const before = new Map(victims.map((server) => [server, timesListed(server)]));
      const frozenAt = performance.now();
      signal("SIGSTOP");
      longest = Math.max(longest, await takeOver(struck));
      const release = (): void => {
        for (const { thread } of struck) bench.release(thread, "ask");
      };
      if (order === "after its runs have ended elsewhere") {
        release();
        for (const one of struck) await checkRun(one);
      }
      await pause(Math.max(0, 2 * LEASE_MS - (performance.now() - frozenAt)));
      signal("SIGCONT");
      for (const { server } of struck) {
        const back = (): boolean => timesListed(server) > (before.get(server) ?? 0);
        await server.whenLogged("it is on the list again", back);
      }
      release();
      for (const { server, run } of struck) {
        await server.whenLogged("it has left its run", (logs) =>
          logs.some(({ event, run_id }) => event === "run_left" && run_id === run),
        );
      }
      for (const one of struck) await checkRun(one);
      for (const server of victims) {
        assert.equal(server.process.exitCode, null);
        const own = await catchInHand(server); // it takes new runs
        bench.release(own.thread, "ask");
        assert.equal(await bench.settled(own.thread), "idle");
      }
    }
    const rounds = batches * VICTIMS;
    console.log(`frozen servers: ${rounds} rounds, ${rounds * RUNS} runs taken over, none written to afterwards;`);
    console.log(`  claimed again at most ${(longest / 1000).toFixed(1)} s after the last heartbeat`);
  });
}

test("a server without its lease accepts runs for the others, which take over its own (machines-workers.4)", async () => {
  const [victim] = victims as [TestServer];
  const { thread } = await bench.pause("ask");
  const before = victim.logs.length;
  // Only the server itself could have put it there again so soon.
  await db.query("DELETE FROM holdpoint.workers");
  const answers = await Promise.all([
    call(victim, "POST", `/threads/${thread}/runs/wait`, resumeBody("ask", "yes")),
    ...Array.from({ length: 5 }, () => call(victim, "POST", "/runs/wait", { assistant_id: "steps", input: {} })),
  ]);
  for (const { status, text } of answers) assert.equal(status, 200, text);
  assert.deepEqual(answers[0]?.body, { log: ["prepared", "yes", "recorded"] });
  assert.ok(!victim.logs.slice(before).some(({ level }) => level === "error"), "that is no failure");
});

const TICKING_KILLS = FULL ? 20 : 1;
/** Ticks of each cron, after each kill. */
const TICKS = 3;

/** The run of a tick that this server executes, at the gate of its second node. */
async function catchTickInHand(server: TestServer): Promise<string> {
  const isOurs = ({ pid }: { readonly pid: number }): boolean => pid === server.process.pid;
  let found: string | undefined;
  await until("a tick's run is in hand", async () => {
    await pause(LOOK_MS);
    const at = (node: string) => bench.effects().filter((effect) => effect.node === node && isOurs(effect));
    const through = new Set(at("two ends").map(({ run }) => run));
    found = at("two starts").find(({ run }) => !through.has(run))?.run;
    return found !== undefined;
  });
  return found ?? "";
}

test(`a tick has one run and none is lost, while servers are killed (${TICKING_KILLS} kills; machines-workers.5)`, async () => {
  const cron = { assistant_id: "steps", schedule: "* * * * * *", input: {}, on_run_completed: "keep" };
  const crons: string[] = [];
  for (const path of ["/runs/crons", "/runs/crons", `/threads/${await bench.newThread()}/runs/crons`]) {
    crons.push(((await bench.post(path, cron)).body as { readonly cron_id: string }).cron_id);
  }
  const wait = async (what: string, enough: (ticks: readonly Tick[]) => boolean): Promise<void> =>
    until(what, async () => pause(LOOK_MS).then(async () => enough(await ticksIn(db))), PATIENCE_MS);
  const struck = new Set<string>();
  while (struck.size < TICKING_KILLS) {
    const victim = await fleet.start("all", env); // it finds the crons when it starts
    bench.hold("all", "two");
    struck.add(await catchTickInHand(victim));
    await victim.kill();
    const killedAt = Date.now();
    bench.release("all", "two");
    const isLater = ({ due }: Tick): boolean => due > killedAt;
    await wait("ticks go on", (ticks) =>
      crons.every((id) => ticks.filter((tick) => tick.cron === id && isLater(tick)).length >= TICKS),
    );
  }
  for (const id of crons) assert.equal((await bench.call("DELETE", `/runs/crons/${id}`)).status, 204);
  await wait("every run ends", (ticks) => ticks.every(({ status }) => status === "success"));
  const ticks = await ticksIn(db);
  assertExactlyOnce(ticks);
  const ended = new Set(bench.effects().flatMap(({ node, run }) => (node === "three ends" ? [run] : [])));
  assert.deepEqual(
    ticks.filter(({ run }) => !ended.has(run)),
    [],
  );
  const again = ticks.filter(({ run }) => struck.has(run));
  assert.ok(again.length === struck.size && again.every(({ attempt }) => attempt > 1));
  const late = Math.max(...ticks.map(({ due, made }) => made - due));
  console.log(`crons of three servers: ${struck.size} killed, ${ticks.length} ticks, each with one run;`);
  console.log(`  its run was made ${late} ms after a tick was due at the latest`);
});

const KILLS = FULL ? BATCHES / 2 : BATCHES;
test(`a server that is killed loses its runs to another (${KILLS * VICTIMS * RUNS} runs; machines-workers.3)`, async () => {
  let longest = 0;
  for (let batch = 0; batch < KILLS; batch++) {
    const struck = await inHandOfAll();
    signal("SIGKILL");
    longest = Math.max(longest, await takeOver(struck));
    for (const { thread } of struck) bench.release(thread, "ask");
    for (const one of struck) await checkRun(one);
    if (!FULL) break;
    const killed = victims;
    victims = [];
    while (victims.length < killed.length) {
      victims = [...victims, ...(await Promise.all([fleet.start("all", env), fleet.start("all", env)]))];
    }
  }
  console.log(`killed servers: claimed again at most ${(longest / 1000).toFixed(1)} s after the last heartbeat`);
  assert.equal((await within("the survivor answers", call(survivor, "GET", "/ok"))).status, 200);
});
