// What clients of MCP and A2A need beyond a right answer. Checked:
//   clients.1. Every tool's schemas are valid in draft 2020-12, with a type for each parameter; names are unique.
//   clients.2. A page may read the session id and the challenge.
//   clients.3. A call that asks for progress is never silent for long, in a long step and while a person thinks.
//   clients.4. A result above the limit is a link.
//   clients.5. Addresses with a slash at the end, and both other addresses of the card, are served.
import { Ajv2020 } from "ajv/dist/2020.js";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { PATIENCE } from "../harness/patience.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { legacy, modern } from "./mcp-client.ts";

const folder = temporaryFolder();
const PROGRESS_MS = 20;
const server = await startServerHere({
  config: join(ROOT, "test/graphs/named.json"),
  limits: { progressEveryMs: PROGRESS_MS, schemaTimeoutMs: 300_000 },
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

async function connect(answer?: () => Promise<string>): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: answer === undefined ? {} : { elicitation: {} } },
  );
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: "accept",
      content: { answer: await answer() },
    }));
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
  return client;
}

suite("what clients need", PATIENCE, () => {
  for (const [revision, open] of Object.entries({ "2025": legacy, "2026": modern })) {
    test(`revision ${revision}: every tool is valid, typed, and has a name of its own (clients.1)`, async () => {
      const client = await open(null, { url: server.url });
      const tools = (await client.tools()) as readonly {
        readonly name: string;
        readonly inputSchema: Schema;
        readonly outputSchema?: Schema;
      }[];
      await client.close();
      assert.equal(tools.length, 13);
      const names = tools.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length, names.join(" "));
      const ajv = new Ajv2020({ strict: false });
      for (const { name, inputSchema, outputSchema } of tools) {
        assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
        for (const schema of [inputSchema, outputSchema ?? {}]) {
          assert.equal(ajv.validateSchema(schema), true, `${name}: ${JSON.stringify(ajv.errors)}`);
          ajv.compile(schema);
          for (const [parameter, { type }] of Object.entries(schema.properties ?? {})) {
            assert.ok(type !== undefined, `${name}.${parameter} has no type`);
          }
        }
      }
      const { inputSchema } = tools.find(({ name }) => name === "pairs") ?? {};
      assert.ok("prefixItems" in (inputSchema?.properties?.["place"] ?? {}), JSON.stringify(inputSchema));
    });
  }

  test("a tool with a changed name runs its own graph (clients.1)", async () => {
    const client = await legacy(null, { url: server.url });
    const named = (await client.tools()).filter(({ name }) => name.startsWith("my_agent_"));
    assert.equal(named.length, 2);
    const graphs = [];
    for (const { name } of named) {
      const { structuredContent } = await client.run(name, { visited: [] });
      const { body } = await call(server, "GET", `/threads/${structuredContent?.thread_id}`);
      graphs.push((body as { readonly metadata: { readonly graph_id: string } }).metadata.graph_id);
    }
    await client.close();
    assert.deepEqual(graphs.toSorted(), ["my agent", "my.agent"]);
  });

  test("a page may read the session id of its first call, and the challenge of a refusal (clients.2)", async () => {
    const reply = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        Origin: "http://localhost:3000",
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "page", version: "1" } },
      }),
    });
    assert.equal(reply.status, 200);
    const exposed = (reply.headers.get("access-control-expose-headers") ?? "").toLowerCase().split(", ");
    assert.ok(reply.headers.has("mcp-session-id"));
    for (const name of ["mcp-session-id", "www-authenticate"]) assert.ok(exposed.includes(name), exposed.join());
    await reply.body?.cancel();
  });

  test("progress comes during a long step, and grows (clients.3)", async () => {
    const gate = join(folder, "gate");
    const client = await connect();
    const seen: number[] = [];
    const { structuredContent } = await client.callTool({ name: "slow", arguments: { gate, waitMs: 0 } }, undefined, {
      onprogress: ({ progress }) => {
        if (seen.push(progress) === 4) writeFileSync(gate, "");
      },
    });
    await client.close();
    assert.equal((structuredContent as { readonly status: string }).status, "completed");
    assert.ok(seen.length >= 4);
    assert.deepEqual(
      seen,
      [...new Set(seen)].toSorted((one, other) => one - other),
    );
  });

  test("progress comes while a person thinks (clients.3)", async () => {
    const thought = Promise.withResolvers<string>();
    let asked = false;
    const client = await connect(() => {
      asked = true;
      return thought.promise;
    });
    let after = 0;
    const { structuredContent } = await client.callTool(
      { name: "echo", arguments: { payload: "How many?" } },
      undefined,
      {
        onprogress: () => {
          if (asked && ++after === 3) thought.resolve("3");
        },
      },
    );
    await client.close();
    assert.deepEqual((structuredContent as { readonly values: { readonly answer: unknown } }).values.answer, ["3"]);
  });

  test("a result above the limit is a link, and so is the rest of a text that is cut (clients.4)", async () => {
    const client = await connect();
    const run = async (bytes: number) => {
      const result = await client.callTool({ name: "steps", arguments: { visited: ["x".repeat(bytes)] } });
      const content = result.content as readonly { readonly type: string; readonly uri?: string }[];
      const link = content.find(({ type }) => type === "resource_link")?.uri ?? null;
      return { link, made: result.structuredContent as Readonly<Record<string, unknown>> };
    };
    const [small, long, large] = [await run(10), await run(300_000), await run(5_000_000)];
    await client.close();
    assert.deepEqual([small.link, "values" in small.made], [null, true]);
    assert.deepEqual(["values" in long.made, "values" in large.made], [true, false]);
    assert.equal(large.made["values_omitted"], true);
    assert.equal(large.made["link"], large.link);
    for (const { link, made } of [long, large]) {
      const { pathname } = new URL(link ?? "");
      assert.equal(pathname, `/threads/${String(made["thread_id"])}/state`);
      const { body } = await call(server, "GET", pathname);
      assert.equal((body as { readonly values: { readonly visited: readonly string[] } }).values.visited.length, 4);
    }
  });

  test("an A2A task whose values are above the limit has their address instead (clients.4)", async () => {
    const send = async (bytes: number) => {
      const message = {
        kind: "message",
        role: "user",
        messageId: `m${bytes}`,
        parts: [{ kind: "data", data: { visited: ["x".repeat(bytes)] } }],
      };
      const body = {
        jsonrpc: "2.0",
        id: 1,
        method: "message/send",
        params: { message, configuration: { blocking: true } },
      };
      return JSON.stringify((await call(server, "POST", "/a2a/steps", body)).body);
    };
    const [small, large] = [await send(10), await send(5_000_000)];
    assert.ok(small.includes("node_c"), small.slice(0, 500));
    assert.match(large, /The result has more than 4194304 bytes/);
    assert.ok(!large.includes("node_c"));
  });

  test("addresses with a slash at the end, and the other addresses of the card (clients.5)", async () => {
    const client = new Client({ name: "test", version: "1" }, { capabilities: {} });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp/`)));
    assert.ok((await client.listTools()).tools.length > 0);
    await client.close();
    const body = { jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: "none" } };
    const reply = async (path: string) => (await call(server, "POST", path, body)).body;
    assert.deepEqual(await reply("/a2a/steps/"), await reply("/a2a/steps"));
    for (const path of ["/a2a/steps/.well-known/agent-card.json", "/.well-known/agent.json?assistant_id=steps"]) {
      const { status, body: card } = await call(server, "GET", path);
      assert.deepEqual([status, (card as { readonly name: string }).name], [200, "steps"]);
    }
  });
});
