// Tests of accepted runs: the database connections of the server break right after the accepting COMMIT.
//   machines-accepted.1. The caller gets the accepted run: it waits for the storage and gets the end, never a 503.
//   machines-accepted.2. So a client that retries a 503 runs nothing twice: each thread has its two runs.
//   machines-accepted.3. A reader of the stream gets every event up to the end, or a cut stream with the position to
//        resume.
//   machines-accepted.4. A momentary cut fails no accepted run for good: the run continues from its stored state.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isMarked, startPostgresProxy, type PostgresProxy } from "../fakes/postgres-proxy.ts";
import { each, FULL, pause, resumeBody, seeded, within } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { call, type Answer, type TestServer } from "../harness/server.ts";
import { IS_LONG } from "../harness/long.ts";

const ANSWERS = FULL ? 20 : IS_LONG ? 4 : 2;
/** Outage of the database after the cut. */
const AWAY_MS = 300;
const timeout = FULL ? 1_200_000 : PATIENCE.timeout;

let proxy: PostgresProxy;
let fleet: Fleet;
let server: TestServer;

before(async () => {
  const uri = await newDatabase();
  proxy = await startPostgresProxy(uri);
  fleet = new Fleet(uri);
  fleet.use(await fleet.start("worker"));
  server = await fleet.start("api", { DATABASE_URI: proxy.uri });
  fleet.use(server);
});
after(async () => {
  await fleet.end();
  await proxy.close();
});

/**
 * The accepting COMMIT, whose reply arrives: after it the database is unreachable for a while. The search indexer of
 * the same server commits too.
 */
function cutAfterAccept(): () => boolean {
  let met = false;
  proxy.decideFate = (text, texts) => {
    const accepts = texts.some((sql) => sql.startsWith("INSERT INTO holdpoint.runs "));
    if (met || !isMarked(text) || !accepts) return "pass";
    met = true;
    setTimeout(() => proxy.flow(), AWAY_MS);
    return "all";
  };
  return () => met;
}

function lastEvent(text: string): string {
  return text.split("\n").findLast((line) => line.startsWith("event: ")) ?? "";
}

for (const verb of ["wait", "stream"] as const) {
  test(
    `${ANSWERS} answers (${verb}) whose connections break after the accepting COMMIT (machines-accepted.1–3)`,
    { timeout },
    async () => {
      const threads: { readonly thread: string; readonly answer: Answer }[] = [];
      await each(Array.from({ length: ANSWERS }), 1, async () => {
        const { thread } = await fleet.bench.pause("ask");
        const met = cutAfterAccept();
        const body = { ...resumeBody("ask", "yes"), stream_mode: ["updates", "values"] };
        const answer = await call(server, "POST", `/threads/${thread}/runs/${verb}`, body);
        proxy.decideFate = () => "pass";
        assert.ok(met(), "a commit was cut");
        threads.push({ thread, answer });
        await pause(AWAY_MS);
      });
      const refused = threads.filter(({ answer }) => answer.status === 503);
      console.log(`cut after the accepting COMMIT (${verb}): ${refused.length} of ${ANSWERS} answers are 503`);
      for (const { thread, answer } of threads) {
        assert.equal(answer.status, 200, answer.text); // machines-accepted.1
        assert.match(answer.headers.get("content-location") ?? "", new RegExp(`^/threads/${thread}/runs/`));
        await fleet.bench.settled(thread);
        assert.equal((await fleet.bench.runs(thread)).length, 2); // machines-accepted.2
        if (verb === "wait") assert.deepEqual(answer.body, { log: ["prepared", "yes", "recorded"] });
        else assert.equal(lastEvent(answer.text), "event: values", answer.text); // machines-accepted.3
      }
    },
  );
}

const CUTS = FULL ? 120 : IS_LONG ? 12 : 3;
const CUT_MS = 50;
/** A run uses an answer, and ends, within about as long. */
const WINDOW_MS = 40;

test(
  `${CUTS} accepted answers whose server loses its database for a moment: every run ends in success (machines-accepted.4)`,
  { timeout },
  async (t) => {
    const { seed, next } = seeded();
    t.diagnostic(`seed ${seed}`);
    const uri = await newDatabase();
    const line = await startPostgresProxy(uri);
    const own = new Fleet(line.uri);
    t.after(async () => {
      await own.end();
      await line.close();
    });
    own.use(await own.start("all"));
    const threads: string[] = [];
    for (let at = 0; at < CUTS; at++) {
      const { thread } = await own.bench.pause("ask");
      const accepted = await own.bench.call("POST", `/threads/${thread}/runs`, resumeBody("ask", "yes"));
      assert.equal(accepted.status, 200, accepted.text);
      await pause(next() * WINDOW_MS);
      line.refuse();
      await pause(CUT_MS);
      line.flow();
      await ready(own, thread);
      threads.push(thread);
    }
    const ends: string[] = [];
    for (const thread of threads) ends.push((await own.bench.runs(thread))[0]?.status ?? "none");
    const failed = ends.filter((status) => status !== "success").length;
    console.log(`momentary cuts: ${failed} of ${CUTS} accepted answers failed for good`);
    assert.equal(failed, 0); // machines-accepted.4
  },
);

/** Postpones calls while the server reconnects. */
async function ready(fleet: Fleet, thread: string): Promise<void> {
  await within(
    `the end of the run on ${thread}`,
    (async () => {
      for (;;) {
        const answer = await fleet.bench.call("GET", `/threads/${thread}`);
        if (answer.status === 200 && (answer.body as { readonly status: string }).status !== "busy") return;
        await pause(10);
      }
    })(),
  );
}
