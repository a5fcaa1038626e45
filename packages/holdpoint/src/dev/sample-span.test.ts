// Test of the sample span: it carries the collector's token, and a rejection has a reason.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { sendSampleSpan } from "./sample-span.ts";

const received: { readonly path: string | undefined; readonly text: string }[] = [];
const collector = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ path: request.url, text: Buffer.concat(chunks).toString() });
    const isAdmitted = request.headers.authorization === "Bearer a token";
    response.writeHead(isAdmitted ? 200 : 401).end(isAdmitted ? "{}" : "show the token");
  })();
});
let url = "";

before(async () => {
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
after(() => collector.close());

const digits = (bytes: number): string => "ab".repeat(bytes);

test("a span goes to the senders' address, with the token, and its trace id comes back", async () => {
  assert.equal(await sendSampleSpan(url, "a token", 1_000_000, digits), "ab".repeat(16));
  const sent = received.at(-1);
  assert.equal(sent?.path, "/v1/traces");
  assert.match(sent?.text ?? "", /"traceId":"(ab){16}"/);
});

test("a rejection quotes the collector", async () => {
  await assert.rejects(
    sendSampleSpan(url, null, 1_000_000, digits),
    (error) =>
      error instanceof ApiError && error.code === "sample_refused" && /401: show the token/.test(error.message),
  );
});
