// Tests of bind messages: `pg`'s own serializer is the oracle for the bytes; the round trip of values is in
// pipelined-connection.test.ts.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as fc from "fast-check";
import { listMessages, readBind } from "../../../../../../test/harness/postgres/packets.ts";
import { bindMessages, type PreparedStatement } from "./bind-messages.ts";
import { parameterText } from "./pool.ts";

const { serialize } = createRequire(import.meta.url)("pg-protocol") as {
  readonly serialize: {
    bind(config: { readonly statement: string; readonly values: readonly unknown[] }): Buffer;
    execute(): Buffer;
    sync(): Buffer;
  };
};

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
      const read = (packet: Buffer) =>
        listMessages(packet).map((message) => readBind(message) ?? message.toString("hex"));
      assert.deepEqual(read(bindMessages(statements)), read(expected(statements)));
    }),
    { numRuns: 500 },
  );
});
