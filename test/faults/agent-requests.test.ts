// Tests of requests while servers die.
//   agent-requests.1. A program that waits gets the answer once its calls reach a server again, also when it was
//        restarted itself: the same Idempotency-Key is the same request.
//   agent-requests.2. Histories of creations, answers, cancellations and reads at the same time, under kills: each request
//        has one id and one end, which every later call sees, and one entry in the audit trail. On PostgreSQL two servers
//        share the requests.
//   agent-requests.3. The check finds a second end that is planted in a history.
//   agent-requests.4. Half of the requests fit an answer that was remembered, until its policy is revoked in the middle of
//        the round: those that were asked before the revocation began are answered by the policy or cancelled, those that
//        were asked after it by people, and the audit trail says so.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { after, before, test, type TestContext } from "node:test";
import { Bench, each, FULL, pause, seeded, until } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { PATIENCE } from "../harness/patience.ts";
import { call, type Answer } from "../harness/server.ts";
import { IS_LONG, testInLong } from "../harness/long.ts";
import { readSizes } from "../histories/sizes.ts";

interface Wire {
  readonly request_id: string;
  readonly status: string;
  readonly [member: string]: unknown;
}

const { seed, next } = seeded();
const bench = new Bench();
before(() => bench.start());
after(() => bench.end());

type Send = (method: string, path: string, body: unknown, headers: Record<string, string>) => Promise<Answer>;

const sendToBench: Send = (...parts) => call(bench.server, ...parts);

type Reach = (method: string, path: string, body?: unknown, key?: string) => Promise<Wire>;

/** @returns a caller that repeats a call until a server replies to it */
function createReach(send: Send): Reach {
  return async (method, path, body, key) => {
    for (;;) {
      const reply = await send(method, path, body, key === undefined ? {} : { "idempotency-key": key }).catch(
        () => null,
      );
      if (reply !== null && reply.status < 300) return reply.body;
      assert.ok(reply === null || reply.status === 503, reply?.text ?? "");
      await pause(20);
    }
  };
}

const reach = createReach(sendToBench);

test("the server is killed while a program waits: the answer arrives, once (agent-requests.1)", PATIENCE, async () => {
  const key = randomUUID();
  const asked = await reach("POST", "/requests", { payload: "Deploy?" }, key);
  const wait = async (): Promise<Wire> => {
    for (;;) {
      const seen = await reach("GET", `/requests/${asked.request_id}?wait=30`);
      if (seen.status !== "open") return seen;
    }
  };
  const waiting = wait();
  await pause(50); // the wait is there
  await bench.server.kill();
  await bench.start();
  const again = await reach("POST", "/requests", { payload: "Deploy?" }, key);
  assert.deepEqual([again.request_id, again.status], [asked.request_id, "open"]);
  await reach("POST", `/requests/${asked.request_id}/answer`, { answer: "yes" });
  assert.equal((await waiting)["answer"], "yes");
  assert.equal((await reach("POST", "/requests", { payload: "Deploy?" }, key))["answer"], "yes");
});

const POINTS = [
  "before commit: accept",
  "after commit: accept",
  "before commit: pause",
  "after commit: pause",
] as const;

for (const point of FULL ? POINTS : IS_LONG ? POINTS.slice(1, 3) : []) {
  test(
    `killed at "${point}" of its creation, the repeated call finds the request (agent-requests.1)`,
    PATIENCE,
    async () => {
      bench.arm({ point, action: "kill" });
      const key = randomUUID();
      const asking = reach("POST", "/requests", { payload: "?" }, key);
      await bench.restartAfterFault();
      const asked = await asking;
      assert.equal(asked.status, "open");
      const { items } = await reach("POST", "/requests/search", { limit: 1 });
      assert.equal((items as readonly Wire[])[0]?.request_id, asked.request_id);
    },
  );
}

interface Seen {
  readonly verb: "create" | "answer" | "cancel" | "get";
  readonly value: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null for a lost reply. */
  readonly request: Wire | null;
  readonly isOk: boolean;
}

/** What a round remembers. */
const BY_POLICY = "by the policy";

interface Watched {
  readonly key: string;
  /** It fits the policy of its round. */
  readonly fits: boolean;
  /** Names the policy. */
  readonly round: string;
  id: string | null;
  /** Start of its first creation, also of one that a stopping server refused after it had asked. */
  askedAt: number;
  readonly history: Seen[];
}

/** When the revocation of a policy began, and when its reply was there. */
interface Revoked {
  readonly startedAt: number;
  readonly endedAt: number;
}

const PASSING = new Set(["shutting_down", "storage_unavailable", "worker_not_listed", "overloaded", "thread_busy"]);

interface Place {
  readonly send: Send;
  /** Resolves when a server is there. */
  readonly settle: () => Promise<void>;
}

async function act(watched: Watched, { send, settle }: Place, value: number): Promise<void> {
  const verb = watched.id === null ? "create" : chooseVerb();
  const path = `/requests/${watched.id}`;
  const startedAt = performance.now();
  if (verb === "create") watched.askedAt = Math.min(watched.askedAt, startedAt);
  const calls = {
    create: () => send("POST", "/requests", buildRequest(watched), { "idempotency-key": watched.key }),
    answer: () => send("POST", `${path}/answer`, { answer: value }, {}),
    cancel: () => send("POST", `${path}/cancel`, { reason: String(value) }, {}),
    get: () => send("GET", `${path}?wait=${next() < 0.5 ? 0 : 0.05}`, undefined, {}),
  };
  const reply = await calls[verb]().catch(() => null);
  const body = reply?.body as (Wire & { readonly request?: Wire }) | undefined;
  if (reply === null) await settle();
  const code = typeof body?.["code"] === "string" ? body["code"] : "";
  if (PASSING.has(code)) return;
  const isLost = reply === null || code === "commit_unknown";
  assert.ok(isLost || reply.status < 300 || code === "request_ended", reply?.text ?? "");
  const request = isLost ? null : ((code === "request_ended" ? body?.request : body) ?? null);
  if (request !== null) watched.id ??= request.request_id;
  const isOk = !isLost && reply.status < 300;
  watched.history.push({ verb, value, startedAt, endedAt: isLost ? Infinity : performance.now(), request, isOk });
}

function buildRequest({ key, fits, round }: Watched): object {
  return { payload: key, metadata: { group: fits ? round : "none" } };
}

function chooseVerb(): Seen["verb"] {
  const chance = next();
  return chance < 0.25 ? "create" : chance < 0.45 ? "answer" : chance < 0.6 ? "cancel" : "get";
}

/** agent-requests.4. @returns whether the policy must answer, may answer, or must not */
function judgePolicy({ fits, askedAt, history }: Watched, revoked: Revoked): "must" | "may" | "never" {
  const creations = history.filter(({ verb }) => verb === "create");
  if (!fits || askedAt > revoked.endedAt) return "never";
  return creations.some(({ endedAt }) => endedAt < revoked.startedAt) ? "must" : "may";
}

/** @returns the fault of a history; null without one */
function findFault(watched: Watched, revoked: Revoked): string | null {
  const { history } = watched;
  const seen = history.filter(({ request }) => request !== null);
  if (new Set(seen.map(({ request }) => request?.request_id)).size > 1) return "several requests";
  const ended = seen.filter(({ request }) => request?.status !== "open");
  const [first] = ended;
  if (first === undefined) return null;
  const final = first.request as Wire;
  const readEnd = ({ url: _url, ...end }: Wire): object => end; // each server has its address
  if (ended.some(({ request }) => !isDeepStrictEqual(readEnd(request as Wire), readEnd(final)))) return "two ends";
  const knownAt = Math.min(...ended.map(({ endedAt }) => endedAt));
  if (seen.some(({ request, startedAt }) => request?.status === "open" && startedAt > knownAt))
    return "open after its end";
  const policy = judgePolicy(watched, revoked);
  const isByPolicy = final["answer"] === BY_POLICY;
  if (isByPolicy && policy === "never") return "answered by a policy that does not fit";
  if (!isByPolicy && policy === "must" && final.status === "answered") return "a policy that fits left it open";
  const isWinner = ({ verb, value, startedAt }: Seen): boolean =>
    startedAt <= knownAt &&
    (final.status === "answered"
      ? verb === "answer" && value === final["answer"]
      : verb === "cancel" && String(value) === final["reason"]);
  if (!isByPolicy && !history.some(isWinner)) return "an end that nobody made";
  const accepted = history.filter(({ verb, isOk }) => verb === "answer" && isOk);
  return accepted.every(isWinner) ? null : "two accepted answers";
}

/** agent-requests.3. */
function withSecondEnd({ history, ...watched }: Watched): Watched | null {
  const last = history.findLast(({ request }) => request !== null && request.status !== "open");
  if (last?.request === undefined || last.request === null) return null;
  const second = { ...last.request, status: "answered", answer: -1, answered_by: "nobody" };
  return { ...watched, history: [...history, { ...last, request: second }] };
}

const { rounds: ROUNDS, sharedRounds: SHARED_ROUNDS, width: WIDTH } = readSizes().requests;
const [CLIENTS, CALLS] = [4, 8];

/** A person answers a request, and has the answer remembered. @returns the id of the policy */
async function remember({ send }: Place, group: string): Promise<string> {
  const reachPlace = createReach(send);
  const body = { payload: "?", metadata: { group } };
  const asked = await reachPlace("POST", "/requests", body, `${group} 1`);
  const rule = { scope: "metadata", match: { when: { "metadata.group": group } } };
  await reachPlace("POST", `/requests/${asked.request_id}/answer`, { answer: BY_POLICY, remember: rule });
  const { policies } = await reachPlace("GET", "/policies");
  const all = policies as readonly { readonly policy_id: string; readonly when: object }[];
  const own = all.find(({ when }) => JSON.stringify(when).includes(group)) ?? assert.fail(JSON.stringify(all));
  const later = await reachPlace("POST", "/requests", body, `${group} 2`);
  const ended = await reachPlace("GET", `/requests/${later.request_id}?wait=60`);
  assert.equal(ended["answer"], BY_POLICY);
  return own.policy_id;
}

/** Through the troubles of a round. */
async function revoke({ send }: Place, policyId: string): Promise<Revoked> {
  const startedAt = performance.now();
  for (;;) {
    const reply = await send("DELETE", `/policies/${policyId}`, undefined, {}).catch(() => null);
    if (reply?.status === 204 || reply?.status === 404) return { startedAt, endedAt: performance.now() };
    assert.ok(reply === null || reply.status === 503, reply?.text ?? "");
    await pause(20);
  }
}

async function checkHistories(
  t: TestContext,
  rounds: number,
  place: Place,
  trouble: () => Promise<void>,
): Promise<void> {
  t.diagnostic(`seed ${seed}`);
  let [calls, lost, planted, byPolicy] = [0, 0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    const name = randomUUID();
    const policyId = await remember(place, name);
    const all: Watched[] = Array.from({ length: WIDTH }, (_, at) => {
      return { key: randomUUID(), fits: at % 2 === 0, round: name, id: null, askedAt: Infinity, history: [] };
    });
    const clients = all.flatMap((watched) => Array.from({ length: CLIENTS }, (_, at) => ({ watched, at })));
    const revokeAt = Math.ceil((next() * clients.length * CALLS) / 2);
    const middle = Promise.withResolvers<void>();
    const revoking = middle.promise.then(() => revoke(place, policyId));
    const troubled = Promise.all([revoking, trouble()]);
    let made = 0;
    await each(clients, clients.length, async ({ watched, at }) => {
      for (let n = 0; n < CALLS; n++) {
        await act(watched, place, at * 1000 + n);
        if (++made === revokeAt) middle.resolve();
      }
    });
    const [revoked] = await troubled;
    await place.settle();
    for (const watched of all) {
      const { id, history } = watched;
      const printed = `seed ${seed}, round ${round}:\n${history.map((one) => JSON.stringify(one)).join("\n")}`;
      assert.equal(findFault(watched, revoked), null, printed); // agent-requests.2
      calls += history.length;
      lost += history.filter(({ request }) => request === null).length;
      const bad = withSecondEnd(watched);
      if (bad === null || id === null) continue;
      planted++;
      assert.notEqual(findFault(bad, revoked), null, printed); // agent-requests.3
      const trail = await place.send("GET", `/threads/${id}/audit`, undefined, {});
      const { items } = trail.body as { readonly items: readonly { readonly action: string; readonly via: string }[] };
      const ends = items.filter(({ action }) => action === "answered" || action === "cancelled");
      assert.equal(ends.length, 1, printed);
      const isByPolicy = history.some(({ request }) => request?.["answer"] === BY_POLICY);
      assert.equal(ends[0]?.via === "policy", isByPolicy, printed); // agent-requests.4
      if (isByPolicy) byPolicy++;
    }
  }
  console.log(
    `histories of ${rounds * WIDTH} requests: ${calls} calls, ${lost} without a reply, ${byPolicy} answered by policies, no fault; ${planted} planted found`,
  );
  assert.ok(planted > 0);
}

test(
  `${ROUNDS * WIDTH} histories of requests, with kills (agent-requests.2, agent-requests.3)`,
  { timeout: FULL ? 1_800_000 : PATIENCE.timeout },
  async (t) => {
    const place = {
      send: sendToBench,
      settle: () => until("a server", async () => (await bench.attempt("GET", "/ok"))?.status === 200),
    };
    await checkHistories(t, ROUNDS, place, async () => {
      await pause(next() * 150);
      if (next() < 0.5) await bench.server.kill();
      else await bench.server.stop();
      await bench.start();
    });
  },
);

testInLong(
  `${SHARED_ROUNDS * WIDTH} histories of requests on two servers (agent-requests.2)`,
  { timeout: FULL ? 1_800_000 : PATIENCE.timeout },
  async (t) => {
    const fleet = new Fleet();
    try {
      const servers = [await fleet.start("all"), await fleet.start("all")];
      const send: Send = (...parts) => call(servers[next() < 0.5 ? 0 : 1] ?? assert.fail(), ...parts);
      await checkHistories(t, SHARED_ROUNDS, { send, settle: async () => undefined }, async () => {
        if (!FULL) return;
        const at = next() < 0.5 ? 0 : 1;
        await pause(next() * 150);
        await (next() < 0.5 ? servers[at]?.kill() : servers[at]?.stop());
        servers[at] = await fleet.start("all");
      });
    } finally {
      await fleet.end();
    }
  },
);
