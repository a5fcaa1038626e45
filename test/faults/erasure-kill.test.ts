// kill -9 in the middle of an erasure, with encryption that of a person, on both storages.
//   erasure-kill.1. The trail says that it has begun as soon as anything is erased, and not before.
//   erasure-kill.2. Repeated after the restart, it ends as the same one: the name is in no file and no table, and the
//        chain verifies.
//   erasure-kill.3. The server goes on with a thread that was being erased, whose metadata nobody finds any more. The same
//        command again erases the others.
// The short form omits what a commit that fails leaves behind: on PostgreSQL, and of threads.
import assert from "node:assert/strict";
import { test } from "node:test";
import { verb } from "../harness/cli.ts";
import { Bench } from "../harness/faults/fault-server.ts";
import { IS_LONG } from "../harness/long.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { findPlaces } from "../harness/storage/find-places.ts";

/** Every identifier of the person has it. */
const PERSON = "zoe4d1c";
const NAME = `${PERSON}@example.com`;
const THREADS = 40;
const ERASURE = `/people/${NAME}/erase`;

interface Act {
  readonly by: string;
  readonly value: { readonly subject: string; readonly erased: unknown };
}

async function fill(bench: Bench): Promise<void> {
  for (let at = 0; at < THREADS; at++) await bench.post("/threads", { metadata: { owner: NAME } });
  const { thread, question } = await bench.pause("ask");
  const comment = await bench.call("POST", `/inbox/${thread}/${question.id}/comments`, { text: `I am ${NAME}.` });
  assert.ok(comment.status < 300, comment.text);
  const item = { namespace: ["people"], key: NAME, value: { text: NAME } };
  assert.equal((await bench.call("PUT", "/store/items", item)).status, 204);
}

async function listActs(bench: Bench): Promise<readonly Act[]> {
  const { body } = await bench.call("GET", "/audit?action=person_removed");
  return (body as { readonly items: readonly Act[] }).items.toReversed();
}

const STORAGES = [
  ["SQLite", async () => ""],
  ["PostgreSQL", newDatabase],
] as const;

for (const [storage, openDatabase] of STORAGES)
  test(`an erasure that was killed ends on ${storage} (erasure-kill.1, erasure-kill.2)`, async (t) => {
    const databaseUri = await openDatabase();
    const keys = `faults:${Buffer.alloc(32, 7).toString("base64")}`;
    const bench = new Bench({ DATABASE_URI: databaseUri, HOLDPOINT_ENCRYPTION_KEYS: keys });
    t.after(() => bench.end());
    const killAt = async (point: string, nth: number, start: () => Promise<unknown>): Promise<void> => {
      bench.arm({ point, action: "kill", nth });
      const answer = bench.attempt("POST", ERASURE, {});
      await bench.restartAfterFault(start);
      assert.equal(await answer, null);
    };
    await bench.start();
    await fill(bench);
    if (IS_LONG || storage === "SQLite") {
      await killAt("before commit: erasure", 1, () => bench.start());
      assert.deepEqual(await listActs(bench), [], "nothing has changed");
    }
    await killAt("after commit: erasure", 3, () => bench.startHere());
    const [begun, ...others] = await listActs(bench);
    assert.deepEqual([begun?.value.erased, others], ["begun", []]);
    let cursor: string | null = null;
    let threads = 0;
    let last = { pseudonym: "", complete: false, places: {} as Record<string, number> };
    do {
      const { body } = await bench.post(ERASURE, { cursor });
      last = body;
      threads += last.places["threads"] ?? 0;
      cursor = (body as { readonly next_cursor: string | null }).next_cursor;
    } while (cursor !== null);
    assert.deepEqual([last.pseudonym, last.complete], [begun?.value.subject, true]);
    assert.ok(threads < THREADS, "the pages before the kill are done");
    assert.deepEqual(
      (await listActs(bench)).map(({ value }) => value.erased),
      ["begun", true],
    );
    assert.deepEqual(await findPlaces(bench.dataDir, databaseUri, PERSON), []);
    const { body: report } = await bench.call("GET", "/audit/verify");
    assert.deepEqual((report as { readonly faults: unknown }).faults, []);
  });

const CUSTOMER = "canary7f3ae1";

/** A paused thread, with memory under its id, and a webhook that nobody takes. */
async function fillThread(bench: Bench): Promise<void> {
  const { body } = await bench.post("/threads", { metadata: { customer: CUSTOMER } });
  const { thread_id: thread } = body as { readonly thread_id: string };
  const run = { assistant_id: "ask", input: {}, webhook: `http://127.0.0.1:1/${CUSTOMER}` };
  await bench.post(`/threads/${thread}/runs/wait`, run);
  const item = { namespace: [thread], key: CUSTOMER, value: { text: CUSTOMER } };
  assert.equal((await bench.call("PUT", "/store/items", item)).status, 204);
}

for (const [storage, openDatabase] of IS_LONG ? STORAGES : STORAGES.slice(0, 1))
  test(`threads whose erasure was killed twice are erased on ${storage} (erasure-kill.3)`, async (t) => {
    const databaseUri = await openDatabase();
    const bench = new Bench({ DATABASE_URI: databaseUri });
    t.after(() => bench.end());
    const erase = () =>
      verb(["threads", "erase", "--metadata", `{"customer": "${CUSTOMER}"}`, "--yes", "--url", bench.server.url]);
    const killAt = async (point: string, nth: number, start: () => Promise<unknown>): Promise<void> => {
      bench.arm({ point, action: "kill", nth });
      const ended = erase();
      await bench.restartAfterFault(start);
      assert.notEqual((await ended).code, 0);
    };
    await bench.start();
    for (let at = 0; at < 3; at++) await fillThread(bench);
    if (IS_LONG) {
      await killAt("before commit: delete", 1, () => bench.start());
      assert.match((await erase()).out, /^(?:erased .* threads 1,.*\n){3}$/, "nothing had changed");
      for (let at = 0; at < 3; at++) await fillThread(bench);
    }
    await killAt("after commit: delete", 1, () => bench.start());
    await bench.server.whenLogged("the erasure is resumed", (list) =>
      list.some(({ event }) => event === "erasure_resumed"),
    );
    await killAt("before commit: thread erasure", 2, () => bench.startHere()); // the end of the second thread
    await bench.server.whenLogged("the erasure is resumed", (list) =>
      list.some(({ event }) => event === "erasure_resumed"),
    );
    const { code, out } = await erase();
    assert.deepEqual([code, out.match(/^erased /gm)?.length], [0, 1]);
    assert.deepEqual(await findPlaces(bench.dataDir, databaseUri, CUSTOMER), []);
    const { body: trail } = await bench.call("GET", "/audit?action=thread_deleted");
    assert.equal((trail as { readonly items: readonly object[] }).items.length, IS_LONG ? 6 : 3);
    const { body: report } = await bench.call("GET", "/audit/verify");
    assert.deepEqual((report as { readonly faults: unknown }).faults, []);
  });
