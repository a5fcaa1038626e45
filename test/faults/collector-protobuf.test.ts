// The protobuf reader against one generated from the schema, on random, truncated and altered requests; and against our
// JSON reader. HOLDPOINT_FAULTS=full: 20,000 rounds of each. SEED=… repeats a run.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DecodeError, type Decoded } from "@holdpoint/collector/otlp/decoded.ts";
import { readJson } from "@holdpoint/collector/otlp/json.ts";
import { readProtobuf } from "@holdpoint/collector/otlp/protobuf.ts";
import {
  field,
  hexId,
  jsonRequest,
  protobufRequest,
  buildSpan,
  T0,
  type TestSpan,
  type TestValue,
  varint,
} from "../fakes/otlp.ts";
import { comparable, judge, readBySchema, type Verdict } from "../fakes/otlp-schema.ts";

const full = process.env["HOLDPOINT_FAULTS"] === "full";
const ROUNDS = full ? 20_000 : 1000;
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
console.log(`seed ${SEED}`);

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

function finish(reading: Generator<undefined, Decoded>): Decoded {
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}

function randomValue(random: () => number, depth: number): TestValue {
  const kind = Math.floor(random() * (depth > 3 ? 6 : 8));
  const texts = ["", "a", "é日本", "x".repeat(30), "\u0000", "👩‍🚀"];
  if (kind === 0) return texts[Math.floor(random() * texts.length)] ?? "";
  if (kind === 1) return random() < 0.5;
  if (kind === 2) return BigInt.asIntN(64, BigInt(Math.floor(random() * 2 ** 32)) << BigInt(Math.floor(random() * 40)));
  if (kind === 3) return random() * 1e10 + 0.5;
  if (kind === 4)
    return Buffer.from(Array.from({ length: Math.floor(random() * 5) }, () => Math.floor(random() * 256)));
  if (kind === 5) return null;
  const items = Array.from({ length: Math.floor(random() * 4) }, () => randomValue(random, depth + 1));
  return kind === 6 ? items : Object.fromEntries(items.map((item, index) => [`k${index}`, item]));
}

function randomSpan(random: () => number, index: number): TestSpan {
  const attributes = (): Record<string, TestValue> =>
    Object.fromEntries(
      Array.from({ length: Math.floor(random() * 5) }, (_, at) => [
        `key.${at}.${Math.floor(random() * 9)}`,
        randomValue(random, 0),
      ]),
    );
  return buildSpan(index, 0, undefined, {
    attributes: attributes(),
    events: Array.from({ length: Math.floor(random() * 3) }, () => ({
      name: "e",
      time: BigInt(Math.floor(random() * 2 ** 48)),
      attributes: attributes(),
    })),
    links: Array.from({ length: Math.floor(random() * 3) }, () => ({
      traceId: hexId(Math.floor(random() * 2 ** 40) + 1, 16),
      spanId: hexId(Math.floor(random() * 2 ** 40) + 1, 8),
      traceState: random() < 0.5 ? "a=b" : "",
      attributes: attributes(),
    })),
    traceState: random() < 0.5 ? "c=d" : "",
    flags: Math.floor(random() * 1024),
    droppedAttributes: Math.floor(random() * 1000),
    ...(random() < 0.5 ? { parentSpanId: hexId(Math.floor(random() * 2 ** 40), 8) } : {}),
    start: random() < 0.1 ? 2n ** 63n : T0 + BigInt(Math.floor(random() * 2 ** 50)),
    status: { code: Math.floor(random() * 3), message: random() < 0.5 ? "m" : "" },
  });
}

test(`${ROUNDS} random requests are read as the reader made from the schema reads them`, () => {
  const random = seeded(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const body = protobufRequest([randomSpan(random, 1), randomSpan(random, 2)], {
      resource: { r: randomValue(random, 0) },
      scope: { name: "s" },
    });
    assert.deepEqual(comparable(finish(readProtobuf(body)).spans), readBySchema(body));
  }
});

/** Fields 2500 and 2501. */
const UNKNOWN = Buffer.from([0xa0, 0x9c, 0x01, 0x05, 0xaa, 0x9c, 0x01, 0x02, 0x68, 0x69]);

test("unknown fields anywhere change nothing", () => {
  const body = protobufRequest([buildSpan(1, 0)]);
  const read = finish(readProtobuf(Buffer.concat([UNKNOWN, body, UNKNOWN])));
  assert.deepEqual(comparable(read.spans), comparable(finish(readProtobuf(Buffer.from(body))).spans));
});

describe("rejects a number that exceeds the end of its message, with any continuation", () => {
  /** Field 12, that no message has. Without its first byte it is a field 1, as well made. */
  const AMBIGUOUS = Buffer.from([0x62, 0x0a, 0x09, 0x60, 1, 0x60, 1, 0x60, 1, 0x62, 1, 0]);
  const ids = Buffer.concat([field(1, Buffer.alloc(16, 1)), field(2, Buffer.alloc(8, 1))]);
  /** Position of the message, and the number of one of its varint fields (96: an unknown one). */
  const MESSAGES: readonly (readonly [string, readonly number[], number])[] = [
    ["resource", [1, 1], 96],
    ["scope", [1, 2, 1], 96],
    ["scope's spans", [1, 2], 96],
    ["span", [1, 2, 2], 96],
    ["span, kind", [1, 2, 2], 6],
    ["span, dropped links", [1, 2, 2], 14],
    ["attribute", [1, 2, 2, 9], 96],
    ["boolean", [1, 2, 2, 9, 2], 2],
    ["whole number", [1, 2, 2, 9, 2], 3],
    ["list", [1, 2, 2, 9, 2, 5], 96],
    ["list of keys", [1, 2, 2, 9, 2, 6], 96],
    ["event, dropped attributes", [1, 2, 2, 11], 4],
    ["link, dropped attributes", [1, 2, 2, 13], 5],
    ["status", [1, 2, 2, 15], 3],
  ];
  for (const [name, path, last] of MESSAGES)
    test(name, () => {
      // The number's second byte is outside its message.
      let bytes = Buffer.concat([varint(last * 8), Buffer.from([0x80])]);
      for (const [depth, number] of [...path.entries()].toReversed()) {
        const isSpan = depth === 2 && number === 2;
        bytes = Buffer.concat([field(number, isSpan ? Buffer.concat([ids, bytes]) : bytes), AMBIGUOUS]);
      }
      assert.throws(() => finish(readProtobuf(bytes)), DecodeError);
    });
});

test(`${ROUNDS} cut and altered requests: sound ones are read as by the other reader, broken ones refused; nothing else is ever thrown`, () => {
  const random = seeded(SEED + 1);
  const counts: Record<Verdict, number> = { sound: 0, broken: 0, open: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const body = Buffer.from(
      protobufRequest([randomSpan(random, 1), randomSpan(random, 2)], { resource: { a: "b" }, scope: { name: "s" } }),
    );
    const cut = random() < 0.3 ? Math.floor(random() * body.length) : body.length;
    for (let flips = cut < body.length ? 0 : Math.ceil(random() * 3); flips > 0; flips--)
      body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
    const damaged = body.subarray(0, cut);
    const verdict = judge(damaged);
    counts[verdict]++;
    const ours = readOrRefuse(damaged);
    const hint = `round ${round} of seed ${SEED}: ${damaged.toString("hex")}`;
    if (verdict === "broken") assert.equal(ours, null, hint);
    if (verdict === "sound") {
      const theirs = readBySchema(damaged) as unknown[];
      // Without a span, the reader may report logs or metrics.
      if (ours !== null || theirs.length > 0) assert.deepEqual(ours, theirs, hint);
    }
  }
  console.log(JSON.stringify(counts));
  assert.ok(counts.sound > ROUNDS / 10 && counts.broken > ROUNDS / 10, "enough of each was seen");
});

/** null: refused. Rethrows any other error. */
function readOrRefuse(body: Buffer): unknown {
  try {
    return comparable(finish(readProtobuf(body)).spans);
  } catch (error) {
    if (error instanceof DecodeError) return null;
    throw error;
  }
}

test(`${ROUNDS} random requests are the same spans in both forms of JSON and in protobuf`, () => {
  const random = seeded(SEED + 2);
  for (let round = 0; round < ROUNDS; round++) {
    const spans = [randomSpan(random, 1), randomSpan(random, 2)];
    const envelope = { resource: { r: randomValue(random, 0) }, scope: { name: "s", version: "1" } };
    const wanted = comparable(finish(readProtobuf(protobufRequest(spans, envelope))).spans);
    for (const form of ["spec", "seed"] as const)
      assert.deepEqual(comparable(finish(readJson(Buffer.from(jsonRequest(spans, form, envelope)))).spans), wanted);
  }
});
