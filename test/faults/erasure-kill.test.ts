// kill -9 in the middle of the erasure of a person, with encryption, on both storages.
//   erasure-kill.1. The trail says that it has begun as soon as anything is erased, and not before.
//   erasure-kill.2. Repeated after the restart, it ends as the same one: the name is in no file and no table, and the
//        chain verifies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench } from "../harness/faults/fault-server.ts";
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

for (const [storage, openDatabase] of [
  ["SQLite", async () => ""],
  ["PostgreSQL", newDatabase],
] as const)
  test(`an erasure that was killed twice ends on ${storage} (erasure-kill.1, erasure-kill.2)`, async (t) => {
    const databaseUri = await openDatabase();
    const keys = `faults:${Buffer.alloc(32, 7).toString("base64")}`;
    const bench = new Bench({ DATABASE_URI: databaseUri, HOLDPOINT_ENCRYPTION_KEYS: keys });
    t.after(() => bench.end());
    const killAt = async (point: string, nth: number): Promise<void> => {
      bench.arm({ point, action: "kill", nth });
      const answer = bench.attempt("POST", ERASURE, {});
      await bench.restartAfterFault();
      assert.equal(await answer, null);
    };
    await bench.start();
    await fill(bench);
    await killAt("before commit: erasure", 1);
    assert.deepEqual(await listActs(bench), [], "nothing has changed");
    await killAt("after commit: erasure", 3);
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
