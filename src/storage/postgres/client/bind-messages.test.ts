// Tests of bind messages: `pg`'s own serializer is the oracle for the bytes; the round trip of values is in
// pipelined-connection.test.ts.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as fc from "fast-check";
import { bindMessages, type PreparedStatement } from "./bind-messages.ts";
import { parameterText } from "./pool.ts";

const { serialize } = createRequire(import.meta.url)("pg-protocol") as {
  readonly serialize: {
    bind(config: { readonly statement: string; readonly values: readonly unknown[] }): Buffer;
    execute(): Buffer;
    sync(): Buffer;
  };
};

interface Bind {
  readonly statement: string;
  readonly formats: readonly number[];
  readonly values: readonly (string | null)[];
}

/** The messages of a packet: Bind messages with their meaning, others as bytes. */
function read(packet: Buffer): readonly (Bind | string)[] {
  const messages: (Bind | string)[] = [];
  for (let at = 0; at < packet.length;) {
    const end = at + 1 + packet.readInt32BE(at + 1);
    messages.push(packet[at] === 0x42 ? readBind(packet.subarray(at + 5, end)) : packet.toString("hex", at, end));
    at = end;
  }
  return messages;
}

function readBind(body: Buffer): Bind {
  let at = body.indexOf(0) + 1; // the portal
  const nameEnd = body.indexOf(0, at);
  const statement = body.toString("utf8", at, nameEnd);
  at = nameEnd + 1;
  const int16 = (): number => body.readInt16BE((at += 2) - 2);
  const codes = Array.from({ length: int16() }, int16);
  const values = Array.from({ length: int16() }, () => {
    const length = body.readInt32BE((at += 4) - 4);
    return length < 0 ? null : body.toString("hex", at, (at += length));
  });
  const results = Array.from({ length: int16() }, int16);
  assert.equal(at, body.length);
  assert.ok(results.every((code) => code === 0));
  return { statement, formats: values.map((_, index) => codes[index] ?? 0), values };
}

function expected(statements: readonly PreparedStatement[]): Buffer {
  const messages = statements.flatMap(({ name, parameters }) => [
    serialize.bind({ statement: name, values: parameters.map(parameterText) }),
    serialize.execute(),
  ]);
  return Buffer.concat([...messages, serialize.sync()]);
}

const TEXT = fc.oneof(
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.string({ maxLength: 60 }),
  fc.constantFrom(
    "",
    "x".repeat(48),
    "ä".repeat(48),
    "x".repeat(49),
    "€".repeat(49),
    "🙂".repeat(24),
    "x".repeat(70_000),
  ),
);
const PARAMETER = fc.oneof(
  TEXT,
  fc.constant(null),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.uint8Array({ maxLength: 20 }),
  fc.array(TEXT, { maxLength: 3 }),
);
const STATEMENTS = fc.array(
  fc.record({ name: fc.nat(999).map((n) => `holdpoint_${n}`), parameters: fc.array(PARAMETER, { maxLength: 6 }) }),
  { minLength: 1, maxLength: 5 },
);

test("a packet means what the messages of pg mean (bind-messages.1)", () => {
  fc.assert(
    fc.property(STATEMENTS, (statements) => {
      assert.deepEqual(read(bindMessages(statements)), read(expected(statements)));
    }),
    { numRuns: 500 },
  );
});
