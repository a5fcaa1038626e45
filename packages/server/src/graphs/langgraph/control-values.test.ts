// Tests of values that a caller may pass to a graph, with LangGraph's own checks as the oracle, loaded from its files:
// langgraph/control-values.1 to langgraph/control-values.4 on arbitrary JSON of LangGraph's own words; run-config.2 for
// every key it reads from `configurable`. The test prints its seed; HOLDPOINT_TEST_SEED repeats a run.
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Run } from "../../model/model.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { rejectControlValues } from "./control-values.ts";
import { loadLibrary } from "./library.ts";
import { runConfig } from "../run/run-config.ts";
import type { RunSaver } from "../checkpoints/run-checkpointer.ts";

const library = await loadLibrary(import.meta.dirname);
const dist = dirname(fileURLToPath(import.meta.resolve("@langchain/langgraph")));
const sources = readdirSync(dist, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".js"))
  .map((name) => readFileSync(join(dist, name), "utf8"));

interface Internals {
  readonly _getOverwriteValue: (value: unknown) => readonly [boolean, unknown];
  readonly isCommand: (value: unknown) => boolean;
}
const internals = (await import(pathToFileURL(join(dist, "constants.js")).href)) as Internals;
const checkpoints = (await import("@langchain/langgraph-checkpoint")) as unknown as {
  readonly isDeltaSnapshot: (value: unknown) => boolean;
};

const seed = Number(process.env["HOLDPOINT_TEST_SEED"] ?? Date.now() % 0x7fffffff);
console.log(`control values: seed ${seed}`);

/** Every text by which LangGraph recognises its own values and names. */
const WORDS = [
  ...new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/"(__[a-z_]+|lg_[a-z_]+|lc_[a-z_]+|branch:to:|join:)"/g)].map(([, word = ""]) => word),
    ),
  ),
];

function refused(given: Parameters<typeof rejectControlValues>[0]): boolean {
  try {
    rejectControlValues(given);
    return false;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === "control_value_refused", String(error));
    return true;
  }
}

/** The plain-object checks of versions below 1.7, and of 1.7. */
function isActedOn(value: unknown): boolean {
  const object = value as Record<string, unknown>;
  return (
    internals.isCommand(value) ||
    object["lg_name"] === "Command" ||
    library.langgraph.Overwrite.isInstance(value) ||
    internals._getOverwriteValue(value)[0] ||
    checkpoints.isDeltaSnapshot(value) ||
    object["__lg_type"] === "__pregel_final" ||
    object["__lg_type"] === "call"
  );
}

function anyInside(value: unknown, holds: (object: unknown) => boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  return holds(value) || Object.values(value).some((inner) => anyInside(inner, holds));
}

const word = fc.constantFrom(...WORDS, "type", "value", "node", "args", "resume", "goto", "update", "lg_name", "x");
const text = fc.constantFrom(...WORDS, "Command", "Send", "Overwrite", "DeltaSnapshot", "x", "");
const tree = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    text,
    fc.constantFrom<Json>(null, true, 1),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(word, tie("value"), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
  ),
})).value;

const RUNS = { numRuns: 20_000, seed } as const;

suite("JSON of LangGraph's own words", () => {
  test("the search finds the words", () => {
    for (const one of ["__overwrite__", "__pregel_tasks", "__resume__", "__lg_type", "lg_name"]) {
      assert.ok(WORDS.includes(one), one);
    }
  });

  test("LangGraph acts on no accepted value (langgraph/control-values.1)", () => {
    fc.assert(
      fc.property(tree, (value) => {
        const acted = anyInside(value, isActedOn);
        const given = [
          { input: value },
          { update: { x: value } },
          { answers: [value] },
          { item: { kept: value } },
          { goto: { node: "n", input: value } },
        ];
        for (const one of given) if (acted) assert.ok(refused(one), JSON.stringify(one));
      }),
      RUNS,
    );
  });

  test("the input of a goto stays as sent (langgraph/control-values.3)", () => {
    fc.assert(
      fc.property(tree, (value) => {
        for (const member of ["input", "args"]) {
          if (refused({ goto: [{ node: "n", [member]: value }] })) continue;
          assert.deepEqual(new library.langgraph.Send("n", value).args, value);
        }
      }),
      RUNS,
    );
    const proto = JSON.parse('{"__proto__": {"a": 1}}') as Json;
    assert.ok(refused({ goto: { node: "n", input: proto } }));
  });

  test("an update names no internal channel (langgraph/control-values.2)", () => {
    const own = WORDS.filter((name) => name.startsWith("__pregel_") || CHANNEL_CONSTANTS.has(name));
    assert.ok(own.includes("__resume__") && own.includes("__error_source_node__"), own.join());
    for (const name of [...own, "branch:to:ask", "join:a+b:c"]) {
      assert.ok(refused({ update: { [name]: 1 } }), name);
      assert.ok(refused({ update: [["x", 1], [name, 1]] }), name); // prettier-ignore
    }
  });
});

/** Names of channels and pending writes of the engine itself, as constants.js exports them. */
const CHANNEL_CONSTANTS: ReadonlySet<unknown> = new Set(
  [
    "START",
    "END",
    "INPUT",
    "RESUME",
    "INTERRUPT",
    "ERROR",
    "ERROR_SOURCE_NODE",
    "NO_WRITES",
    "RETURN",
    "PREVIOUS",
    "SELF",
    "SNAPSHOT_BUMPS",
  ].map((name) => (internals as unknown as Record<string, unknown>)[name]),
);

test("ordinary data is accepted (langgraph/control-values.4)", () => {
  const ordinary: readonly Json[] = [
    { lc: 1, type: "constructor", id: ["a"], kwargs: {} },
    { resume: 1, goto: "x", update: {}, graph: null },
    { nodes: [{ node: "a", args: { b: 1 } }], type: "value", value: 2 },
    { lg_name: "Other", __interrupt__: [], __typename: "T", __meta: 1 },
    { messages: [{ type: "remove", id: "__remove_all__", content: "" }] },
    { type: "tool", tool_call_id: "1", content: "", lc_direct_tool_output: true },
    "Command",
    ["__overwrite__", "__pregel_tasks", { text: "lg_name" }],
  ];
  for (const value of ordinary) {
    assert.ok(
      !refused({ input: value, update: { channel: value }, answers: [value], item: { value } }),
      JSON.stringify(value),
    );
  }
  const sent = ordinary.filter((value) => !JSON.stringify(value).includes('"node"'));
  for (const value of sent) assert.ok(!refused({ goto: { node: "a", args: value } }), JSON.stringify(value));
  assert.ok(!refused({ goto: ["a", { lg_name: "Send", node: "b", args: { c: 1 } }] }));
});

test("no key that LangGraph reads from `configurable` comes from a request (run-config.2)", () => {
  const read = sources.flatMap((source) => [
    ...[...source.matchAll(/configurable\??\.?\["([a-z_]+)"\]/g)].map(([, key = ""]) => key),
    ...[...source.matchAll(/configurable\?*\.([a-z_]+)\b(?!\()/g)].map(([, key = ""]) => key),
    ...[...source.matchAll(/^const CONFIG_KEY_\w+ = "([a-z_]+)"/gm)].map(([, key = ""]) => key),
  ]);
  // a fallback for config.writer, which a run always has
  const keys = [...new Set(read)].filter((key) => key !== "writer");
  assert.ok(keys.includes("__pregel_resuming") && keys.includes("checkpoint_id") && keys.length > 20, keys.join());
  const configurable = Object.fromEntries([...keys.map((key) => [key, "forged"]), ["mine", "kept"]]);
  const run = { threadId: "t", runId: "r", request: { config: { configurable }, user: null }, metadata: configurable };
  const plan = { libraryModes: [], subgraphs: false, raw: false, v3: false };
  const saver = { checkpointer: {} } as RunSaver;
  const signal = new AbortController().signal;
  const config = runConfig(run as unknown as Run, library, { saver, signal, started: true, plan });
  const forged = Object.entries(config.configurable ?? {}).filter(([, value]) => value === "forged");
  assert.deepEqual(forged, []);
  assert.equal(config.configurable?.["mine"], "kept");
});

test("a control value in a long value is refused with its path (langgraph/control-values.1)", () => {
  const list: unknown[] = Array.from({ length: 40_000 }, (_, at) => ({ at, name: `row ${at}` }));
  rejectControlValues({ input: { list } });
  list[31_000] = { inner: [{ lg_name: "Command", resume: 1 }] };
  assert.throws(() => rejectControlValues({ input: { list } }), { extra: { path: "input.list.31000.inner.0" } });
});

test("no update writes to a channel that the library names (langgraph/control-values.2)", () => {
  const names = [...readFileSync(join(dist, "constants.js"), "utf8").matchAll(/"(__\w+|branch:to:|join:)"/g)].flatMap(
    ([, name = ""]) => (name === "__root__" ? [] : name),
  );
  assert.ok(names.includes("__resume__") && names.length > 20, names.join());
  for (const name of [...names, "branch:to:ask", "__to_come__"])
    for (const update of [{ [name]: 1 }, [[name, 1]]])
      assert.throws(() => rejectControlValues({ update }), { code: "control_value_refused" }, name);
  rejectControlValues({ update: { __root__: 1, _own: 2 } });
});
