// Tests of long values: long-values.1 with every kind of item in a list and in an object, long-values.2 by their count.
import { Document } from "@langchain/core/documents";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Send } from "@langchain/langgraph";
import assert from "node:assert/strict";
import { test } from "node:test";
import { TAG } from "../../agent/model/model.ts";
import { LONG_UNITS } from "../../base/stringify-in-slices.ts";
import { loadLibrary } from "../langgraph/library.ts";
import { decodeInSlices, clientJsonInSlices } from "./long-values.ts";
import { createCodec } from "./codec/value-codec.ts";

const codec = createCodec(await loadLibrary(import.meta.dirname));

const LONG = "x".repeat(LONG_UNITS);
const VALUES: Readonly<Record<string, unknown>> = {
  "a list of messages": [new HumanMessage({ id: "1", content: LONG }), new AIMessage({ id: "2", content: "short" })],
  "an object of every kind": {
    plain: { list: [1, "two", null, { three: [LONG] }] },
    message: new HumanMessage({ id: "1", content: "text" }),
    date: new Date(0),
    map: new Map([["key", LONG]]),
    set: new Set([1, 2]),
    bytes: new Uint8Array([1, 2, 3]),
    odd: [Number.NaN, -0, 10n, undefined, new URL("http://a.test/")],
    document: new Document({ pageContent: LONG, metadata: {} }),
    send: new Send("node", { a: 1 }),
  },
  "an object with the name of the tag": { [TAG]: "date", v: 1, more: [LONG, { [TAG]: "map", v: [] }] },
  "hostile names": { list: [JSON.parse(`{"__proto__":1,"constructor":2,"x":"${LONG}"}`), { toJSON: () => "own" }] },
};

for (const [kind, value] of Object.entries(VALUES)) {
  test(`${kind}: decoded and shown as by the codec (long-values.1)`, async () => {
    const encoded = codec.encode(value);
    const whole = codec.decode(codec.parse(encoded));
    const slow = await decodeInSlices(codec, codec.parse(encoded));
    assert.deepEqual(slow, whole);
    assert.deepEqual(await clientJsonInSlices(codec, slow), codec.toClientJson(whole));
  });
}

test("a short value takes the plain way, a long one several turns (long-values.2)", async () => {
  const turnsOf = async (value: unknown): Promise<number> => {
    let turns = 0;
    let counting = true;
    const count = (): void => {
      if (!counting) return;
      turns++;
      setImmediate(count);
    };
    setImmediate(count);
    await clientJsonInSlices(codec, value);
    counting = false;
    return turns;
  };
  assert.equal(await turnsOf(["short"]), 0);
  assert.ok((await turnsOf(Array.from({ length: 10 }, () => ({ text: LONG })))) > 0);
});
