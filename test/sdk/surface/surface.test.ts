// The whole surface of the official client: each method and each option has a row, and each row that the server has a
// part in is checked against it, over a real socket.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { after, suite, test } from "node:test";
import { PATIENCE } from "../../harness/patience.ts";
import { startServerHere } from "../../harness/server-here.ts";
import { removeFolder, temporaryFolder, TEST_GRAPHS } from "../../harness/server.ts";
import { OTHER_ROWS } from "./others.ts";
import { readSurface } from "./read-surface.ts";
import type { Bench } from "./rows.ts";
import { START_ROWS } from "./starts.ts";

const posts = new Map<string, PromiseWithResolvers<Readonly<Record<string, unknown>>>>();
const postTo = (path: string) => {
  const known = posts.get(path) ?? Promise.withResolvers<Readonly<Record<string, unknown>>>();
  posts.set(path, known);
  return known;
};
const receiver = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8").on("data", (piece: string) => void (text += piece));
  request.on("end", () => {
    postTo(request.url ?? "").resolve(JSON.parse(text) as Readonly<Record<string, unknown>>);
    response.end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));

/** The graphs of the tests, with webhooks to this machine. */
const folder = temporaryFolder();
const { graphs } = JSON.parse(readFileSync(TEST_GRAPHS, "utf8")) as {
  readonly graphs: Readonly<Record<string, string>>;
};
const here = Object.entries(graphs).map(([id, path]) => [id, resolve(dirname(TEST_GRAPHS), path)]);
const webhooks = { url: { require_https: false, allowed_networks: ["127.0.0.1"] } };
const config = join(folder, "langgraph.json");
writeFileSync(config, JSON.stringify({ graphs: Object.fromEntries(here), webhooks }));

const server = await startServerHere({ config });
const bench: Bench = {
  client: new Client({ apiUrl: server.url, apiKey: null, callerOptions: { maxRetries: 0 } }),
  async listRequests(call) {
    let sent = "";
    const onRequest = (url: URL, init: RequestInit): RequestInit => {
      sent += `${url.href} ${typeof init.body === "string" ? init.body : ""}\n`;
      throw new Error("seen");
    };
    const watched = new Client({
      apiUrl: "http://127.0.0.1:9",
      apiKey: null,
      onRequest,
      callerOptions: { maxRetries: 0 },
    });
    await assert.rejects(async () => call(watched));
    return sent;
  },
  receiver: {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    waitFor: (path) => postTo(path).promise,
  },
};
after(async () => {
  await server.stop();
  receiver.close();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

const ROWS = [...START_ROWS, ...OTHER_ROWS];

suite("the surface of the official client", PATIENCE, () => {
  test("every method and option has one row, and every row is one of them", async () => {
    const names = ROWS.map(([name]) => name).toSorted();
    assert.deepEqual(names, await readSurface());
  });

  for (const [name, { how, check }] of ROWS) {
    if (check !== null) test(`${name}: ${how}`, () => check(bench));
  }
});
