// Tests of the value codec: value-codec.1 by property over the closed list of types and hostile names, and class by
// class; value-codec.2 with forged tags; value-codec.3 with values without a stored form.
import { Document } from "@langchain/core/documents";
import * as messages from "@langchain/core/messages";
import { Command, Overwrite, Send } from "@langchain/langgraph";
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { TAG } from "../../../model/model.ts";
import { NotSerialisableError } from "./encode-tree.ts";
import { createCodec } from "./value-codec.ts";
import { loadLibrary } from "../../langgraph/library.ts";

const codec = createCodec(await loadLibrary(import.meta.dirname));
const again = (value: unknown): unknown => codec.decode(codec.parse(codec.encode(value)));

const HOSTILE_KEYS = [TAG, "v", "lc", "type", "id", "kwargs", "__proto__", "constructor", "prototype", "toString"];
const key = fc.oneof(fc.constantFrom(...HOSTILE_KEYS, "lc_serializable", "lg_name", "then", "", "0"), fc.string());
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\u0000", "\ud800", "\udfff\ud83d", "$hp", "#hash"),
);

/** Objects by their entries, so that `__proto__` is a member like any other. */
const object = (value: fc.Arbitrary<unknown>) =>
  fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      text,
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
    ),
    fc.array(tie("json"), { maxLength: 4 }),
    object(tie("json")),
  ),
}));

const { any } = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      text,
      fc.constantFrom(null, undefined, true, false, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
      fc.double(),
      fc.bigInt(),
      fc.date({ noInvalidDate: true }),
      fc.constantFrom(/a+/giu, /\/"\\/u, new URL("https://example.com/a?b=c#d"), Buffer.from([0, 255])),
      fc.uint8Array(),
      fc.float64Array(),
      fc.bigInt64Array(),
    ),
    fc.array(tie("any"), { maxLength: 4 }),
    object(tie("any")),
    fc.array(fc.tuple(tie("any"), tie("any")), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie("any"), { maxLength: 3 }).map((items) => new Set(items)),
  ),
}));

/** A new seed each time; the report contains the seed of a failure, which can be set here. */
function holds(t: TestContext, values: fc.Arbitrary<unknown>, check: (value: unknown) => void): void {
  const seed = Date.now() & 0x7fff_ffff;
  t.diagnostic(`seed ${seed}`);
  fc.assert(fc.property(values, check), { seed, numRuns: 1000 });
}

test("a stored value decodes to an equal value (value-codec.1)", (t) => {
  holds(t, any, (value) => assert.deepStrictEqual(again(value), value));
});

test("plain JSON is stored as JSON alone, unless a member has the name of our tag (value-codec.1)", (t) => {
  holds(t, json, (value) => {
    assert.deepStrictEqual(again(value), value);
    const plain = JSON.stringify(value);
    if (!plain.includes(`"${TAG}"`)) assert.equal(codec.encode(value), plain);
  });
});

test("plain JSON reaches clients unchanged", (t) => {
  holds(t, json, (value) => assert.equal(codec.clientText(value), JSON.stringify(value)));
});

test("every storable value has a form for clients", (t) => {
  holds(t, any, (value) => void JSON.parse(codec.clientText(value)));
});

const bytes = Uint8Array.from([1, 2, 3, 4, 250, 251, 252, 253, 0, 0, 0, 0, 0, 0, 240, 63]);
const VIEWS: readonly (new (buffer: ArrayBuffer) => ArrayBufferView)[] = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float16Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
];

for (const View of VIEWS) {
  test(`${View.name} reads back as stored (value-codec.1)`, () => {
    const view = new View(bytes.buffer);
    const decoded = again({ view });
    assert.deepStrictEqual(decoded, { view });
  });
}

test("a part of a buffer, a Buffer and an ArrayBuffer read back as stored (value-codec.1)", () => {
  const part = bytes.subarray(2, 5);
  assert.deepStrictEqual(again(part), Uint8Array.from(part));
  assert.deepStrictEqual(again(Buffer.from("ä\u0000")), Buffer.from("ä\u0000"));
  assert.deepStrictEqual(again(bytes.buffer), bytes.buffer);
});

test("an invalid date stays invalid, and an error keeps its name and message (value-codec.1)", () => {
  assert.ok(Number.isNaN((again(new Date(Number.NaN)) as Date).getTime()));
  const error = again(new TypeError("no")) as Error;
  assert.ok(error instanceof Error);
  assert.deepEqual([error.name, error.message], ["TypeError", "no"]);
});

const toolCalls = [{ id: "c", name: "tool", args: { deep: [null] }, type: "tool_call" as const }];
const chunks = [{ id: "c", name: "tool", args: '{"a":', index: 0, type: "tool_call_chunk" as const }];
const MESSAGES: readonly messages.BaseMessage[] = [
  new messages.HumanMessage({ content: "hi", id: "1", name: "ann", additional_kwargs: { a: undefined } }),
  new messages.HumanMessage({
    content: [
      { type: "text", text: "part" },
      { type: "image_url", image_url: "x" },
    ],
  }),
  Object.assign(new messages.AIMessage({ content: "", tool_calls: toolCalls }), {
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  }),
  new messages.SystemMessage({ content: "be kind", response_metadata: { model: "m" } }),
  new messages.ToolMessage({
    content: "done",
    tool_call_id: "c",
    status: "error",
    artifact: new Map([["k", new Date(0)]]),
  }),
  new messages.FunctionMessage({ content: "f", name: "fn" }),
  new messages.ChatMessage({ content: "c", role: "narrator" }),
  new messages.RemoveMessage({ id: "gone" }),
  new messages.HumanMessageChunk({ content: "h" }),
  new messages.AIMessageChunk({ content: "a", tool_call_chunks: chunks, id: "2" }),
  new messages.SystemMessageChunk({ content: "s" }),
  new messages.ToolMessageChunk({ content: "t", tool_call_id: "c" }),
  new messages.FunctionMessageChunk({ content: "f", name: "fn" }),
  new messages.ChatMessageChunk({ content: "c", role: "narrator" }),
];

for (const message of MESSAGES) {
  test(`${message.constructor.name} decodes to the same class with the same content (value-codec.1)`, () => {
    const [back] = again([message]) as readonly messages.BaseMessage[];
    assert.ok(back);
    assert.equal(back.constructor, message.constructor);
    assert.equal(codec.encode(back), codec.encode(message));
    assert.deepEqual(JSON.parse(codec.clientText(back)), JSON.parse(codec.clientText(message)));
    for (const field of ["content", "id", "name", "tool_calls", "tool_call_id", "artifact", "role"]) {
      assert.deepEqual(Reflect.get(back, field), Reflect.get(message, field), field);
    }
  });
}

test("documents and LangGraph's own values keep their class (value-codec.1)", () => {
  const document = again(new Document({ pageContent: "p", metadata: { at: new Date(5) }, id: "7" })) as Document;
  assert.ok(document instanceof Document);
  assert.deepEqual([document.pageContent, document.metadata, document.id], ["p", { at: new Date(5) }, "7"]);
  const send = again(new Send("node", { when: new Date(5) })) as Send;
  assert.ok(send instanceof Send);
  assert.deepEqual([send.node, send.args], ["node", { when: new Date(5) }]);
  const overwrite = again(new Overwrite([1n])) as Overwrite<unknown>;
  assert.ok(overwrite instanceof Overwrite);
  assert.deepEqual(overwrite.value, [1n]);
  const command = again(new Command({ update: { a: 1 }, goto: ["b", new Send("c", 1)], resume: null })) as Command;
  assert.ok(command instanceof Command);
  assert.deepEqual([command.update, command.resume], [{ a: 1 }, null]);
  assert.deepEqual((command.goto as readonly unknown[])[0], "b");
});

test("any other object is stored in its JSON form", () => {
  class Money {
    readonly amount = 3;
    #secret = "hidden";
    describe(): string {
      return this.#secret;
    }
  }
  assert.deepStrictEqual(again(new Money()), { amount: 3 });
  assert.deepStrictEqual(again({ toJSON: () => ({ as: "json", more: new Date(1) }) }), {
    as: "json",
    more: new Date(1),
  });
  assert.deepStrictEqual(again(Object.assign(Object.create(null) as object, { bare: 1 })), { bare: 1 });
});

test("the same object in two places is not a cycle", () => {
  const shared = { when: new Date(1) };
  assert.deepStrictEqual(again([shared, { shared }]), [shared, { shared }]);
});

const cycle: Record<string, unknown> = { a: { b: [] } };
(cycle["a"] as { b: unknown[] }).b.push(cycle);
const mapCycle = new Map<string, unknown>();
mapCycle.set("self", mapCycle);

const REFUSED: readonly { readonly name: string; readonly value: unknown; readonly message: RegExp }[] = [
  { name: "a function", value: () => 1, message: /a function at the top cannot/ },
  { name: "a function inside", value: { a: [0, { call: () => 1 }] }, message: /a function at a\.1\.call cannot/ },
  { name: "a symbol", value: [Symbol("s")], message: /a symbol at 0 cannot/ },
  { name: "a function in a map", value: { m: new Map([["k", () => 1]]) }, message: /a function at m\.0 cannot/ },
  {
    name: "a method of an instance",
    value: {
      i: new (class {
        run = () => 1;
      })(),
    },
    message: /a function at i\.run cannot/,
  },
  {
    name: "a function in a message",
    value: new messages.HumanMessage({ content: "x", additional_kwargs: { call: () => 1 } }),
    message: /a function at additional_kwargs\.call/,
  },
  { name: "a cycle", value: cycle, message: /a cycle at a\.b\.0 cannot/ },
  { name: "a cycle through a map", value: mapCycle, message: /a cycle at 0 cannot/ },
];

for (const { name, value, message } of REFUSED) {
  test(`${name} fails with its path (value-codec.3)`, () => {
    assert.throws(
      () => codec.encode(value),
      (error) => error instanceof NotSerialisableError && message.test(error.message),
    );
    assert.throws(() => codec.encode(value, ["channel"]), /channel/);
  });
}

const FORGED: readonly string[] = [
  '{"$hp":"function","v":"process.exit(1)"}',
  '{"$hp":"constructor","v":[]}',
  '{"$hp":"__proto__","v":{}}',
  '{"$hp":"message","v":{"type":"constructor","content":"x"}}',
  '{"$hp":"message","v":{"type":"__proto__","content":"x"}}',
  '{"$hp":"message","v":{"type":"toString","content":"x"}}',
  '{"$hp":"message","v":{"type":"robot","content":"x"}}',
];

for (const forged of FORGED) {
  test(`a forged tag creates nothing: ${forged} (value-codec.2)`, () => {
    assert.throws(() => codec.decode(codec.parse(forged)));
  });
}

test("a forged kind of bytes yields bytes and nothing else (value-codec.2)", () => {
  const decoded = codec.decode(codec.parse('{"$hp":"bytes","v":["constructor","AQI="]}'));
  assert.deepStrictEqual(decoded, Uint8Array.from([1, 2]));
});

test("encoding and decoding leave the prototypes unchanged", () => {
  again(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'));
  codec.decode(codec.parse('{"$hp":"object","v":[["__proto__",{"polluted":1}]]}'));
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.equal(Reflect.get(Object, "polluted"), undefined);
});

test("a long value that cannot be stored is refused with its path (value-codec.3)", () => {
  const list: unknown[] = Array.from({ length: 50 }, () => "x".repeat(16_384));
  list[37] = { deep: [() => 1] };
  assert.throws(() => codec.encode({ list }, ["channel"]), /a function at channel\.list\.37\.deep\.0 cannot be stored/);
});
