// Rows of the calls of assistants.
import type { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { type Check, newMark } from "./rows.ts";

const made = async (client: Client, options: object = {}) => client.assistants.create({ graphId: "steps", ...options });

export const ASSISTANTS: Readonly<Record<string, Check>> = {
  create: async ({ client }) => assert.equal((await made(client)).graph_id, "steps"),
  "create.graphId": async ({ client }) => assert.equal((await made(client, { graphId: "echo" })).graph_id, "echo"),
  ...Object.fromEntries(
    (
      [
        ["config", { configurable: { tone: "kind" } }],
        ["context", { tone: "kind" }],
        ["metadata", { colour: "red" }],
        ["name", "Stepper"],
        ["description", "Takes steps"],
      ] as const
    ).flatMap(([name, value]): [string, Check][] => [
      [`create.${name}`, async ({ client }) => assert.deepEqual((await made(client, { [name]: value }))[name], value)],
      [
        `update.${name}`,
        async ({ client }) => {
          const { assistant_id: id } = await made(client);
          assert.deepEqual((await client.assistants.update(id, { [name]: value }))[name], value);
        },
      ],
    ]),
  ),
  "create.assistantId": async ({ client }) => {
    const assistantId = crypto.randomUUID();
    assert.equal((await made(client, { assistantId })).assistant_id, assistantId);
  },
  "create.ifExists": async ({ client }) => {
    const { assistant_id: assistantId } = await made(client);
    await assert.rejects(made(client, { assistantId }), /HTTP 409/);
    assert.equal((await made(client, { assistantId, ifExists: "do_nothing" })).assistant_id, assistantId);
  },
  get: async ({ client }) => {
    const one = await made(client);
    assert.deepEqual(await client.assistants.get(one.assistant_id), one);
  },
  getGraph: async ({ client }) => assert.equal((await client.assistants.getGraph("steps")).nodes.length, 5),
  "getGraph.xray": async ({ client }) => {
    const [flat, open] = [
      await client.assistants.getGraph("deep"),
      await client.assistants.getGraph("deep", { xray: true }),
    ];
    assert.ok(open.nodes.length > flat.nodes.length);
  },
  getSchemas: async ({ client }) => assert.equal((await client.assistants.getSchemas("steps")).graph_id, "steps"),
  getSubgraphs: async ({ client }) => {
    assert.deepEqual(Object.keys(await client.assistants.getSubgraphs("deep")), ["outer"]);
  },
  "getSubgraphs.recurse": async ({ client }) => {
    const found = await client.assistants.getSubgraphs("deep", { recurse: true });
    assert.deepEqual(Object.keys(found), ["outer", "outer|inside"]);
  },
  "getSubgraphs.namespace": async ({ client }) => {
    assert.deepEqual(Object.keys(await client.assistants.getSubgraphs("deep", { namespace: "outer" })), ["outer"]);
  },
  update: async ({ client }) => {
    const { assistant_id: id } = await made(client);
    assert.equal((await client.assistants.update(id, {})).assistant_id, id);
  },
  "update.graphId": async ({ client }) => {
    const { assistant_id: id } = await made(client);
    assert.equal((await client.assistants.update(id, { graphId: "echo" })).graph_id, "echo");
  },
  delete: async ({ client }) => {
    const { assistant_id: id } = await made(client);
    await client.assistants.delete(id);
    await assert.rejects(client.assistants.get(id), /HTTP 404/);
  },
  "delete.deleteThreads": async ({ client }) => {
    const { assistant_id: id } = await made(client);
    const { thread_id: threadId } = await client.threads.create({ metadata: { assistant_id: id } });
    await client.assistants.delete(id, { deleteThreads: true });
    await assert.rejects(client.threads.get(threadId), /HTTP 404/);
  },
  search: async ({ client }) => assert.ok((await client.assistants.search()).length > 0),
  count: async ({ client }) => assert.ok((await client.assistants.count()) > 0),
  ...Object.fromEntries(
    (["search", "count"] as const).flatMap((call): [string, Check][] => {
      const found = async (client: Client, query: object): Promise<number> =>
        call === "count" ? client.assistants.count(query) : (await client.assistants.search(query)).length;
      return [
        [
          `${call}.metadata`,
          async ({ client }) => {
            const metadata = newMark();
            await made(client, { metadata });
            assert.equal(await found(client, { metadata }), 1);
          },
        ],
        [
          `${call}.graphId`,
          async ({ client }) => {
            const metadata = newMark();
            await made(client, { metadata });
            assert.equal(await found(client, { metadata, graphId: "echo" }), 0);
          },
        ],
        [
          `${call}.name`,
          async ({ client }) => {
            const { of: name } = newMark();
            await made(client, { name });
            assert.equal(await found(client, { name }), 1);
          },
        ],
      ];
    }),
  ),
  ...assistantPages(),
  getVersions: async ({ client }) => {
    const { assistant_id: id } = await made(client);
    assert.equal((await client.assistants.getVersions(id)).length, 1);
  },
  "getVersions.limit": versions({ limit: 1 }, [2]),
  "getVersions.offset": versions({ offset: 1 }, [1]),
  "getVersions.metadata": versions({ metadata: { colour: "red" } }, [2]),
  setLatest: async ({ client }) => {
    const { assistant_id: id } = await made(client, { name: "first" });
    await client.assistants.update(id, { name: "second" });
    assert.equal((await client.assistants.setLatest(id, 1)).name, "first");
  },
};

function versions(query: object, expected: readonly number[]): Check {
  return async ({ client }) => {
    const { assistant_id: id } = await made(client);
    await client.assistants.update(id, { metadata: { colour: "red" } });
    const found = await client.assistants.getVersions(id, query);
    assert.deepEqual(
      found.map(({ version }) => version),
      expected,
    );
  };
}

function assistantPages(): Readonly<Record<string, Check>> {
  const names =
    (query: object, expected: readonly string[]): Check =>
    async ({ client }) => {
      const metadata = newMark();
      for (const name of ["a", "b"]) await made(client, { metadata, name });
      const found = await client.assistants.search({ metadata, ...query });
      assert.deepEqual(
        found.map(({ name }) => name),
        expected,
      );
    };
  return {
    "search.limit": names({ limit: 1 }, ["b"]),
    "search.offset": names({ offset: 1 }, ["a"]),
    "search.sortBy": names({ sortBy: "name" }, ["b", "a"]),
    "search.sortOrder": names({ sortBy: "name", sortOrder: "asc" }, ["a", "b"]),
    "search.select": async ({ client }) => {
      const metadata = newMark();
      await made(client, { metadata, name: "a" });
      assert.deepEqual(await client.assistants.search({ metadata, select: ["name"] }), [{ name: "a" }]);
    },
    "search.includePagination": async ({ client }) => {
      const metadata = newMark();
      for (const name of ["a", "b"]) await made(client, { metadata, name });
      const page = await client.assistants.search({ metadata, limit: 1, includePagination: true });
      assert.deepEqual([page.assistants.length, page.next], [1, "1"]);
    },
  };
}
