// Tests of multipart bodies (traces/multipart.1, traces/multipart.2): the forms in use by senders, and invalid bodies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBoundary, toParts } from "./multipart.ts";

const read = (text: string) =>
  [...toParts(Buffer.from(text), "b")].map(({ name, type, bytes }) => [name, type, bytes.toString()]);

const DISPOSITION = 'Content-Disposition: form-data; name="post.1"';

test("a length in the head, in the content type, or none: the same part (traces/multipart.1)", () => {
  const heads = [
    `${DISPOSITION}\r\nContent-Type: application/json\r\nContent-Length: 2`,
    `${DISPOSITION}\r\nContent-Type: application/json; length=2`,
    `${DISPOSITION}\r\nContent-Type: application/json`,
    `content-type: application/json\r\ncontent-disposition: form-data; name="post.1"`,
  ];
  for (const head of heads) {
    assert.deepEqual(read(`--b\r\n${head}\r\n\r\n{}\r\n--b--\r\n`), [["post.1", "application/json", "{}"]], head);
  }
});

test("a part with a length may hold the boundary (traces/multipart.1)", () => {
  const content = "x\r\n--b\r\ny";
  const body = `--b\r\n${DISPOSITION}\r\nContent-Type: text/plain\r\nContent-Length: ${content.length}\r\n\r\n${content}\r\n--b--\r\n`;
  assert.deepEqual(read(body), [["post.1", "text/plain", content]]);
});

test("parts are views of the body (traces/multipart.2)", () => {
  const body = Buffer.from(`--b\r\n${DISPOSITION}\r\nContent-Type: text/plain\r\n\r\nabc\r\n--b--\r\n`);
  const [part] = [...toParts(body, "b")];
  assert.equal(part?.bytes.buffer, body.buffer);
});

const BROKEN: readonly [name: string, body: string][] = [
  ["no boundary at all", "{}"],
  ["no end", `--b\r\n${DISPOSITION}\r\nContent-Type: text/plain\r\n\r\nabc`],
  ["no name", "--b\r\nContent-Type: text/plain\r\n\r\nabc\r\n--b--\r\n"],
  ["no blank line", "--b\r\nContent-Type: text/plain\r\n--b--\r\n"],
  ["too short a length", `--b\r\n${DISPOSITION}\r\nContent-Length: 2\r\n\r\nabc\r\n--b--\r\n`],
  ["too long a length", `--b\r\n${DISPOSITION}\r\nContent-Length: 400\r\n\r\nabc\r\n--b--\r\n`],
  ["a length that is none", `--b\r\n${DISPOSITION}\r\nContent-Length: -1\r\n\r\nabc\r\n--b--\r\n`],
];
for (const [name, body] of BROKEN) {
  test(`rejected: ${name}`, () => {
    assert.throws(() => read(body), { name: "UploadError" });
  });
}

test("the content type has the boundary, quoted or not; other types have none", () => {
  assert.equal(parseBoundary("multipart/form-data; boundary=abc"), "abc");
  assert.equal(parseBoundary('multipart/form-data; charset=utf-8; boundary="a b"'), "a b");
  assert.equal(parseBoundary("multipart/mixed; boundary=abc"), null);
  assert.equal(parseBoundary("application/json"), null);
  assert.equal(parseBoundary(undefined), null);
});
