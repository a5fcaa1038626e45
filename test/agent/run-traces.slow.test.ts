// Test of a server with tracing, by the standard variables: the contents of its spans.
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { removeFolder, startServer } from "../harness/server.ts";
import { newThread } from "../harness/threads.ts";

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

test("spans of runs reach the configured receiver, with its key, and without content", async (t) => {
  const received: Received[] = [];
  const receiver = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      received.push({ path: request.url ?? "", headers: request.headers, text: Buffer.concat(chunks).toString() });
      response.setHeader("content-type", "application/json").end("{}");
    })();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const server = await startServer({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=a%20key%20of%20ours",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    },
  });
  t.after(() => {
    receiver.close();
    removeFolder(server.dataDir);
  });
  const thread = await newThread(server, "agent");
  await thread.run({ input: { some_text: "said in confidence" } });
  await thread.resume("answered in confidence");
  assert.equal(await server.stop(), 0, "what is to be told is told before the end");

  assert.ok(received.length > 0);
  for (const { path, headers } of received) {
    assert.equal(path, "/v1/traces");
    assert.equal(headers["x-api-key"], "a key of ours");
  }
  const sent = received.map(({ text }) => text).join("\n");
  for (const text of ["invoke_agent agent", "wait ", "deployment.environment.name", '"holdpoint"', thread.threadId])
    assert.ok(sent.includes(text), text);
  assert.doesNotMatch(sent, /in confidence/);
  assert.doesNotMatch(server.output(), /in confidence|key%20of|key of ours/);
});
