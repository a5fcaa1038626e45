// Replies that take time, behind what compresses them: each event arrives before its reply ends, below Express's
// `compression` in the program that embeds the server, and behind a proxy that compresses, as Next's rewrites do.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as forward, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { StateGraph } from "@langchain/langgraph";
import compression from "compression";
import express from "express";
import * as z from "zod";
import { type Holdpoint, openHoldpoint } from "../../packages/holdpoint/src/exports/open-holdpoint.ts";
import { databaseFor, removeFolder, temporaryFolder } from "../harness/server.ts";

/** Runs wait in their node for the end of the tests. */
const end = Promise.withResolvers<void>();
const graph = new StateGraph(z.object({ done: z.boolean().default(false) }))
  .addNode("wait", () => end.promise.then(() => ({ done: true })))
  .addEdge("__start__", "wait")
  .addEdge("wait", "__end__");

const folder = temporaryFolder();
const servers: Server[] = [];
let holdpoint: Holdpoint;

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const forms: Readonly<Record<string, () => Promise<string>>> = {
  "below the middleware": () => listen(express().use(compression(), holdpoint.listener)),
  "behind a proxy": async () => {
    const origin = await listen(holdpoint.listener);
    return listen(
      express().use(compression(), (request, response) => {
        const passed = forward(origin + request.url, { method: request.method, headers: request.headers }, (reply) => {
          response.writeHead(reply.statusCode ?? 502, reply.headers);
          reply.pipe(response);
        });
        response.on("close", () => passed.destroy());
        request.pipe(passed);
      }),
    );
  },
};
before(async () => {
  const databaseUri = await databaseFor(folder);
  holdpoint = await openHoldpoint(
    {
      graphs: { slow: graph },
      dataDir: folder,
      ...(databaseUri === "" ? {} : { databaseUri }),
      settings: { N_JOBS_PER_WORKER: 30 },
    },
    { keepAliveMs: 100 },
  );
});
after(async () => {
  end.resolve();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await holdpoint.close();
  removeFolder(folder);
});

interface Ids {
  readonly thread: string;
  readonly run: string;
}
interface Row {
  readonly name: string;
  readonly path: (ids: Ids) => string;
  readonly body?: object | ((ids: Ids) => object);
  readonly headers?: Readonly<Record<string, string>>;
}

const run = { assistant_id: "slow", input: {} };
const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
const said = { message: { messageId: "one", role: "ROLE_USER", parts: [{ data: {} }] } };
const a2a = { "a2a-version": "1.0" };

/** Every kind of reply that takes time. */
const ROWS: readonly Row[] = [
  { name: "a run without a thread", path: () => "/runs/stream", body: run },
  {
    name: "a run",
    path: ({ thread }) => `/threads/${thread}/runs/stream`,
    body: { ...run, multitask_strategy: "enqueue" },
  },
  { name: "a run that is joined", path: ({ thread, run }) => `/threads/${thread}/runs/${run}/stream` },
  {
    name: "a thread",
    path: ({ thread }) => `/threads/${thread}/stream?last_event_id=-1`,
    headers: { "last-event-id": "-1" },
  },
  {
    name: "a thread's events",
    path: ({ thread }) => `/threads/${thread}/stream/events`,
    body: { channels: ["lifecycle"] },
  },
  { name: "a run that is waited for", path: ({ thread, run }) => `/threads/${thread}/runs/${run}/join` },
  { name: "the inbox", path: () => "/inbox/events" },
  {
    name: "A2A's SendStreamingMessage",
    path: () => "/a2a/slow",
    body: rpc("SendStreamingMessage", said),
    headers: a2a,
  },
  {
    name: "A2A's SubscribeToTask",
    path: () => "/a2a/slow",
    body: ({ run }: Ids) => rpc("SubscribeToTask", { id: run }),
    headers: a2a,
  },
  { name: "MCP's notices", path: () => "/mcp", headers: { accept: "text/event-stream" } },
];

async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const headers = { "content-type": "application/json" };
  const reply = await holdpoint.fetch(`http://app.test${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return (await reply.json()) as Readonly<Record<string, unknown>>;
}

for (const [form, start] of Object.entries(forms)) {
  test(`${form}, every reply that takes time arrives as it is written`, async (t) => {
    const url = await start();
    for (const { name, path, body, headers } of ROWS) {
      await t.test(name, async () => {
        const thread = String((await post("/threads", {}))["thread_id"]);
        const ids = { thread, run: String((await post(`/threads/${thread}/runs`, run))["run_id"]) };
        const sent = typeof body === "function" ? (body as (ids: Ids) => object)(ids) : body;
        const reading = new AbortController();
        const reply = await fetch(url + path(ids), {
          method: sent === undefined ? "GET" : "POST",
          headers: {
            "accept-encoding": "gzip",
            ...(sent === undefined ? {} : { "content-type": "application/json" }),
            ...headers,
          },
          ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
          signal: reading.signal,
        });
        assert.equal(reply.status, 200);
        assert.equal(reply.headers.get("content-encoding"), null);
        const { value, done } = (await reply.body?.getReader().read()) ?? assert.fail("no body");
        assert.ok(!done && value.length > 0); // before the end: the node still waits
        reading.abort();
      });
    }
  });
}
