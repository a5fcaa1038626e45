// The contract of a trace store with encryption (sealed-cells.1, sealed-cells.2): both adapters keep it.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { createKeyring, type Keyring } from "@holdpoint/base/keyring.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { changesOfBatch, type RunChange } from "./run-change.ts";
import { names, post, run, uuid } from "./store.contract.ts";
import type { TraceStore } from "./store.ts";
import { EVERY_TRACE } from "./query.ts";

const CANARY = "canary5f2e";
const makeRing = (...keys: readonly (readonly [string, number])[]): Keyring =>
  createKeyring(keys.map(([id, byte]) => ({ id, key: Buffer.alloc(32, byte) })));
const K1 = ["k1", 1] as const;
const K2 = ["k2", 2] as const;

export interface SealedStore {
  /** Opens it again, as a next start does. */
  readonly open: (ring: Keyring | null, search?: boolean | null) => Promise<TraceStore>;
  readonly close: () => Promise<void>;
  /** Everything that the store has on disk or in its tables, as text. */
  readonly dump: () => Promise<string>;
  /** Past the store. Names of tables are those of SQLite. */
  readonly exec: (sql: string) => Promise<void>;
}

/** A canary in every kind of value of two traces. */
function fill(trace: number): readonly RunChange[] {
  const values: JsonObject = {
    inputs: { messages: [{ content: `${CANARY} asked` }] },
    outputs: { answer: `${CANARY} answered` },
    events: [{ name: CANARY, time: "2026-01-01T00:00:01Z", kwargs: { token: CANARY } }],
    extra: { metadata: { customer: CANARY, [`${CANARY}key`]: "x" }, other: CANARY },
    serialized: { id: [CANARY] },
    tags: [`${CANARY} tag`],
    reference_example_id: CANARY,
  };
  const failed = run(trace, trace + 1, { ...values, error: `${CANARY} broke`, outputs: { small: CANARY } });
  const [first, ...rest] = changesOfBatch({ post: [run(trace, trace, values), failed] });
  if (first === undefined) return [];
  const file = { name: "voice.wav", type: "audio/wav", bytes: Buffer.from(`${CANARY} spoken`) };
  return [{ ...first, attachments: [file] }, ...rest];
}

async function readAll(store: TraceStore, trace: number): Promise<string> {
  const file = await store.attachment(uuid(trace), "voice.wav");
  const texts = [await store.trace(uuid(trace)), await store.run(uuid(trace)), await store.run(uuid(trace + 1))];
  return [...texts, Buffer.from(file?.bytes ?? []).toString(), file?.type].join("\n");
}

export function testSealedTraces(name: string, create: (t: TestContext) => Promise<SealedStore>): void {
  test(`${name}: no value is in plain text, and all read back as without keys`, async (t) => {
    const [plain, sealed] = [await create(t), await create(t)];
    const [first, second] = [await plain.open(null), await sealed.open(makeRing(K1))];
    for (const store of [first, second]) await store.write([...fill(1), ...fill(10)]);
    assert.equal(await readAll(second, 1), await readAll(first, 1));
    assert.ok((await readAll(second, 1)).includes(`${CANARY} spoken`));
    assert.deepEqual((await second.search(EVERY_TRACE)).items, (await first.search(EVERY_TRACE)).items);
    assert.match((await second.search(EVERY_TRACE)).items[0]?.input ?? "", new RegExp(CANARY));
    assert.ok((await plain.dump()).includes(CANARY));
    assert.ok(!(await sealed.dump()).includes(CANARY));
    await sealed.close();
    assert.ok(!(await sealed.dump()).includes(CANARY), "after a stop");
  });

  test(`${name}: filters find traces, and words only where the setting keeps them`, async (t) => {
    const at = await create(t);
    const store = await at.open(makeRing(K1));
    await store.write([...fill(1), ...post(run(20, 20))]);
    const filters = [
      { metadata: [["customer", CANARY]] as const },
      { tag: `${CANARY} tag` },
      { name: "run 1" },
      { status: "success" as const, tag: `${CANARY} tag` },
    ];
    for (const filter of filters)
      assert.deepEqual(names((await store.search({ ...EVERY_TRACE, ...filter })).items), ["run 1"]);
    assert.deepEqual((await store.search({ ...EVERY_TRACE, metadata: [["customer", "other"]] })).items, []);
    const words = { ...EVERY_TRACE, words: ["asked"] };
    await assert.rejects(async () => store.search(words), { code: "search_off" });
    await at.close();
    const searched = await at.open(makeRing(K1), true);
    await searched.write(fill(1));
    assert.deepEqual(names((await searched.search(words)).items), ["run 1"]);
  });

  test(`${name}: a start without the key, or with another one, is refused`, async (t) => {
    const at = await create(t);
    await (await at.open(makeRing(K1))).write(fill(1));
    await at.close();
    for (const [ring, reason] of [
      [null, /the trace store needs the key "k1", which is not given: add it behind the others/],
      [makeRing(K2), /needs the key "k1"/],
      [makeRing(["k1", 9]), /the key "k1" is another one than that which sealed the trace store/],
    ] as const)
      await assert.rejects(at.open(ring), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.equal(error.problems[0]?.name, "HOLDPOINT_ENCRYPTION_KEYS");
        assert.match(error.problems[0].reason, reason);
        return true;
      });
    assert.ok((await readAll(await at.open(makeRing(K1)), 1)).includes(CANARY));
  });

  test(`${name}: a key is changed, traces from before stay readable, and the old key goes with them`, async (t) => {
    const at = await create(t);
    await (await at.open(null)).write(fill(1));
    await at.close();
    await (await at.open(makeRing(K1))).write(fill(10));
    await at.close();
    const both = await at.open(makeRing(K2, K1));
    await both.write(fill(20));
    for (const trace of [1, 10, 20]) assert.ok((await readAll(both, trace)).includes(`${CANARY} asked`));
    await both.write(changesOfBatch({ patch: [{ ...run(10, 10), outputs: { answer: `${CANARY} again` } }] }));
    await at.close();
    await assert.rejects(at.open(makeRing(K2)), ConfigError, "a run and a file of trace 10 have the first key");
    await (await at.open(makeRing(K2, K1))).deleteTrace(uuid(10));
    await at.close();
    await at.open(makeRing(K2, K1)); // notices that no value needs it
    await at.close();
    const last = await at.open(makeRing(K2));
    for (const trace of [1, 20]) assert.ok((await readAll(last, trace)).includes(`${CANARY} asked`));
  });

  test(`${name}: a value that was moved does not open, and stops no other trace and no upload`, async (t) => {
    const at = await create(t);
    const store = await at.open(makeRing(K1));
    await store.write([...fill(1), ...fill(10)]);
    await at.close();
    const mine = (column: string, table = "runs", id = "run_id"): string =>
      `(SELECT ${column} FROM ${table} WHERE ${id} = '${uuid(1)}')`;
    for (const column of ["facts", "summary", "main", "inputs"])
      await at.exec(`UPDATE runs SET ${column} = ${mine(column)} WHERE run_id = '${uuid(10)}'`);
    await at.exec(`UPDATE attachments SET bytes = ${mine("bytes", "attachments")} WHERE run_id = '${uuid(10)}'`);
    await at.exec(`UPDATE traces SET input = ${mine("input", "traces", "trace_id")} WHERE trace_id = '${uuid(10)}'`);
    const again = await at.open(makeRing(K1));
    for (const read of [
      () => again.run(uuid(10)),
      () => again.trace(uuid(10)),
      () => again.attachment(uuid(10), "voice.wav"),
    ])
      await assert.rejects(async () => read(), { code: "sealed_value_unreadable" });
    const { items } = await again.search(EVERY_TRACE);
    const previews = new Map(items.map(({ trace_id: id, input }) => [id, input]));
    assert.match(previews.get(uuid(1)) ?? "", new RegExp(CANARY));
    assert.equal(previews.get(uuid(10)), null);
    const written = await again.write([...fill(10), ...fill(30)]);
    assert.equal(written.dropped, 1);
    assert.ok((await readAll(again, 30)).includes(CANARY));
    assert.ok((await readAll(again, 1)).includes(CANARY));
  });
}
