// Tests of the `store` section of langgraph.json, and of loading its embedding function (embedder.1, embedder.2).
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readGraphsConfig } from "./langgraph-json.ts";
import { loadEmbedder } from "../extensions/embedder.ts";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-store-config-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function read(store: unknown) {
  const file = join(folder, "langgraph.json");
  writeFileSync(file, JSON.stringify({ graphs: { agent: "./agent.ts:graph" }, store }));
  return readGraphsConfig(file, {});
}

test("times are minutes; absent ones have defaults", () => {
  const nothing = { defaultTtlMs: null, refreshOnRead: true, sweepEveryMs: 300_000, index: null };
  for (const store of [undefined, {}, { ttl: null, index: null }, { ttl: { default_ttl: null } }]) {
    assert.deepEqual(read(store).store, nothing, JSON.stringify(store));
  }
  const ttl = { default_ttl: 1.5, refresh_on_read: false, sweep_interval_minutes: 60 };
  const some = { defaultTtlMs: 90_000, refreshOnRead: false, sweepEveryMs: 3_600_000, index: null };
  assert.deepEqual(read({ ttl }).store, some);
});

test("an index has a function, a number of dimensions, and fields, by default the whole item", () => {
  const index = { embed: "./embed.ts:embed", dims: 3 };
  const embed = { file: join(folder, "embed.ts"), exportName: "embed" };
  assert.deepEqual(read({ index }).store.index, { embed, dims: 3, fields: ["$"] });
  assert.deepEqual(read({ index: { ...index, fields: ["a", "b[*].c"] } }).store.index?.fields, ["a", "b[*].c"]);
});

test("other keys of the section cause warnings", () => {
  assert.deepEqual(read({ path: "./store.ts:store" }).remarks, [
    '"store.path" has no effect: the server\'s own database keeps the items',
  ]);
});

const REFUSED: readonly (readonly [store: unknown, says: RegExp])[] = [
  [
    { index: { embed: "openai:text-embedding-3-small", dims: 3 } },
    /store\.index\.embed: "openai:text-embedding-3-small" names a provider.*in a file of yours export/,
  ],
  [{ index: { embed: "./embed.py:embed", dims: 3 } }, /Python function/],
  [{ index: { embed: "embed", dims: 3 } }, /is not of the form "\.\/file\.ts:export"/],
  [{ index: { embed: "./embed.ts:embed" } }, /store\.index\.dims/],
  [{ index: { embed: "./embed.ts:embed", dims: 10_000 } }, /store\.index\.dims/],
  [
    { index: { embed: "./embed.ts:embed", dims: 3, fields: ["a[x]"] } },
    /store\.index\.fields\.0: "a\[x\]" is not a field/,
  ],
  [{ ttl: { default_ttl: 0 } }, /store\.ttl\.default_ttl/],
  [{ ttl: { sweep_interval_minutes: -1 } }, /store\.ttl\.sweep_interval_minutes/],
  ["../extensions/langgraph-store.ts", /store: /],
];

for (const [store, says] of REFUSED) {
  test(`${JSON.stringify(store)} stops the server`, () => {
    assert.throws(() => read(store), says);
  });
}

async function load(code: string, dims = 2) {
  const file = join(folder, `embed-${Math.random()}.mjs`);
  writeFileSync(file, code);
  return loadEmbedder({ embed: { file, exportName: "embed" }, dims, fields: ["$"] }, folder);
}

const LOADED: readonly (readonly [name: string, code: string, query: readonly number[]])[] = [
  ["a function", "export const embed = (texts) => texts.map((text) => [text.length, 1]);", [1, 1]],
  ["a function that takes its time", "export const embed = async (texts) => texts.map(() => [2, 2]);", [2, 2]],
  ["typed arrays", "export const embed = async (texts) => texts.map(() => Float64Array.of(2, 3));", [2, 3]],
  [
    "an Embeddings object",
    "export const embed = { n: 5, async embedDocuments(texts) { return texts.map(() => [1, 1]); }, async embedQuery() { return [this.n, 0]; } };",
    [5, 0],
  ],
];

for (const [name, code, query] of LOADED) {
  test(`${name} creates vectors`, async () => {
    const embedder = await load(code);
    assert.deepEqual(
      (await embedder.embed(["q"], "query")).map((vector) => [...vector]),
      [query],
    );
    assert.equal((await embedder.embed(["a", "bb"], "item")).length, 2);
  });
}

for (const [name, code, says] of [
  ["another export", "export const other = 1;", /does not load: the file has no such export \(it has other\)/],
  ["a file that throws", "throw new Error('broken');", /does not load: Error: broken/],
  ["a number", "export const embed = 1;", /is neither a function \(texts: string\[\]\)/],
] as const) {
  test(`${name} stops the server (embedder.2)`, async () => {
    await assert.rejects(load(code), says);
  });
}

for (const [name, given, says] of [
  ["no list", "null", /no list of vectors for 1 texts/],
  ["too few", "[]", /0 vectors for 1 texts/],
  ["no vector", "['x']", /a vector is not a list of numbers/],
  ["a short one", "[[1]]", /a vector has 1 numbers, and store\.index\.dims is 2/],
  ["a value that is not a number", "[[1, 'x']]", /not a number/],
] as const) {
  test(`${name} is an error with its cause (embedder.1)`, async () => {
    const embedder = await load(`export const embed = async () => ${given};`);
    await assert.rejects(embedder.embed(["text"], "item"), says);
  });
}
