// Packets: what a client sends to PostgreSQL, message by message (frontend/backend protocol 3.0, "Message Formats").
import assert from "node:assert/strict";

export interface Bind {
  readonly statement: string;
  /** Text, or bytes of a binary parameter. */
  readonly values: readonly (string | Buffer | null)[];
}

const BIND = 0x42; // "B"

export function listMessages(packet: Buffer): readonly Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < packet.length;) {
    const end = at + 1 + packet.readInt32BE(at + 1);
    messages.push(packet.subarray(at, end));
    at = end;
  }
  return messages;
}

/** @returns null for another message */
export function readBind(message: Buffer): Bind | null {
  if (message[0] !== BIND) return null;
  let at = 5;
  const name = (): string => {
    const start = at;
    at = message.indexOf(0, at) + 1;
    return message.toString("utf8", start, at - 1);
  };
  const int16 = (): number => message.readInt16BE((at += 2) - 2);
  assert.equal(name(), "", "the unnamed portal");
  const statement = name();
  const formats = Array.from({ length: int16() }, int16);
  const values = Array.from({ length: int16() }, (_, index) => {
    const length = message.readInt32BE((at += 4) - 4);
    if (length < 0) return null;
    const bytes = message.subarray(at, (at += length));
    return formats[index] === 1 ? bytes : bytes.toString("utf8");
  });
  const results = Array.from({ length: int16() }, int16);
  assert.equal(at, message.length, "the end of the message");
  assert.ok(
    results.every((code) => code === 0),
    "results are text",
  );
  return { statement, values };
}
