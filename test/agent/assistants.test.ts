// Tests of assistants with the official client, unmodified: create, change, search, delete, runs on them, and the
// descriptions of their graphs.
import { RemoteGraph } from "@langchain/langgraph/remote";
import { Client, type Assistant, type Thread } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { newNotes } from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const CONFIG = join(ROOT, "test", "graphs", "described.json");
const server = await startServerHere({ config: CONFIG, limits: { schemaTimeoutMs: 300_000 } });
const folder = temporaryFolder();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const NOWHERE = "00000000-0000-4000-8000-000000000000";

/** The client's error for a refusal. */
function refusal(status: number, code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, new RegExp(`^HTTP ${status}: .*"code":"${code}"`));
    return true;
  };
}

async function runOn(assistantId: string, payload: object = {}): Promise<Record<string, unknown>> {
  const { thread_id: id } = await client.threads.create();
  return (await client.runs.wait(id, assistantId, { input: {}, ...payload })) as Record<string, unknown>;
}

const DRAFT = {
  graphId: "settings",
  name: "Kind",
  description: "Speaks kindly",
  config: { configurable: { model: "small", tone: "kind" }, recursion_limit: 7 },
  context: { user: "ann" },
  metadata: { team: "a", tags: ["x"] },
};

suite("making and reading", () => {
  test("an assistant is read as it was made, by its id", PATIENCE, async () => {
    const made = await client.assistants.create(DRAFT);
    assert.deepEqual(
      [made.graph_id, made.name, made.description, made.version],
      ["settings", "Kind", "Speaks kindly", 1],
    );
    assert.deepEqual([made.config, made.context, made.metadata], [DRAFT.config, DRAFT.context, DRAFT.metadata]);
    assert.equal(made.created_at, made.updated_at);
    assert.deepEqual(await client.assistants.get(made.assistant_id), made);
    assert.deepEqual(await client.assistants.get(made.assistant_id.toUpperCase()), made);
  });

  test("absent fields have defaults; a context of null stays", PATIENCE, async () => {
    const plain = await client.assistants.create({ graphId: "settings" });
    assert.deepEqual(
      [plain.name, plain.description, plain.config, plain.context, plain.metadata],
      ["Untitled", null, {}, {}, {}],
    );
    const empty = await client.assistants.create({ graphId: "settings", context: null });
    assert.equal((await client.assistants.get(empty.assistant_id)).context, null);
  });

  test("an id exists once: a conflict, or the existing assistant", PATIENCE, async () => {
    const assistantId = crypto.randomUUID();
    const made = await client.assistants.create({ ...DRAFT, assistantId });
    assert.equal(made.assistant_id, assistantId);
    const again = { ...DRAFT, assistantId, name: "Other" };
    await assert.rejects(client.assistants.create(again), refusal(409, "assistant_exists"));
    assert.deepEqual(await client.assistants.create({ ...again, ifExists: "do_nothing" }), made);
    assert.equal((await client.assistants.getVersions(assistantId)).length, 1);
  });

  test("the assistant of a graph has the graph's name and description", PATIENCE, async () => {
    const own = await client.assistants.get("settings");
    assert.deepEqual(
      [own.name, own.description, own.metadata, own.version],
      ["settings", "Shows its settings", { created_by: "system" }, 1],
    );
    assert.deepEqual(await client.assistants.get(own.assistant_id), own);
  });
});

suite("changing, and going back", () => {
  test("every change makes a version, and going back brings all of one back", PATIENCE, async () => {
    const { assistant_id: id, ...first } = await client.assistants.create(DRAFT);
    const second = await client.assistants.update(id, {
      graphId: "agent",
      name: "Curt",
      description: "Says little",
      config: { configurable: { model: "big" } },
      context: null,
      metadata: { team: "b", more: 1 },
    });
    assert.deepEqual(
      [second.version, second.graph_id, second.name, second.description, second.config, second.context],
      [2, "agent", "Curt", "Says little", { configurable: { model: "big" } }, null],
    );
    assert.deepEqual(second.metadata, { team: "b", tags: ["x"], more: 1 }); // merged
    assert.equal(second.created_at, first.created_at);
    const third = await client.assistants.update(id, {});
    assert.deepEqual({ ...third, updated_at: "" }, { ...second, version: 3, updated_at: "" });

    const versions = await client.assistants.getVersions(id);
    assert.deepEqual(
      versions.map(({ version, name }) => [version, name]),
      [
        [3, "Curt"],
        [2, "Curt"],
        [1, "Kind"],
      ],
    );
    const page = await client.assistants.getVersions(id, { limit: 1, offset: 1 });
    assert.deepEqual(page, [versions[1]]);
    const ofTeam = await client.assistants.getVersions(id, { metadata: { team: "a" } });
    assert.deepEqual(ofTeam, [versions[2]]);

    const back = await client.assistants.setLatest(id, 1);
    assert.deepEqual({ ...back, updated_at: "" }, { ...first, assistant_id: id, updated_at: "" });
    assert.deepEqual(await client.assistants.get(id), back);
    const fourth = await client.assistants.update(id, { name: "Kinder" });
    assert.deepEqual([fourth.version, fourth.graph_id, fourth.name], [4, "settings", "Kinder"]);
  });

  test("null removes a description and changes nothing else", PATIENCE, async () => {
    const { assistant_id: id } = await client.assistants.create(DRAFT);
    const patch = { description: null, name: null, config: null, metadata: null, graph_id: null };
    const { body, status } = await call(server, "PATCH", `/assistants/${id}`, patch);
    const changed: Assistant = body;
    assert.equal(status, 200);
    assert.deepEqual([changed.description, changed.name, changed.config], [null, "Kind", DRAFT.config]);
    assert.deepEqual([changed.metadata, changed.graph_id], [DRAFT.metadata, "settings"]);
  });

  test("changes at the same time each get a version", PATIENCE, async () => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "settings" });
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
    const changed = await Promise.all(names.map((name) => client.assistants.update(id, { metadata: { [name]: 1 } })));
    assert.deepEqual(
      changed.map(({ version }) => version).toSorted((a, b) => a - b),
      names.map((_, at) => at + 2),
    );
    assert.deepEqual(Object.keys((await client.assistants.get(id)).metadata ?? {}).toSorted(), names.toSorted());
  });

  test("the assistant of a graph takes a config, and stays with its graph", PATIENCE, async () => {
    const { version } = await client.assistants.update("slow", { metadata: { colour: "red" } });
    assert.equal(version, 2);
    assert.deepEqual((await client.assistants.get("slow")).metadata, { created_by: "system", colour: "red" });
    await assert.rejects(client.assistants.update("slow", { graphId: "agent" }), refusal(409, "assistant_built_in"));
  });
});

suite("finding", () => {
  const team = `team ${crypto.randomUUID()}`;
  const names = ["delta", "Alpha", "charlie", "bravo"];
  const made = (async () => {
    const list: Assistant[] = [];
    for (const [at, name] of names.entries())
      list.push(
        await client.assistants.create({
          graphId: at % 2 === 0 ? "settings" : "agent",
          name,
          metadata: { team, at, deep: { a: 1, b: at } },
        }),
      );
    return list;
  })();
  const joinNames = (found: readonly Assistant[]): string => found.map(({ name }) => name).join(" ");

  test("by metadata, graph and part of the name; counted the same way", PATIENCE, async () => {
    await made;
    const cases: readonly (readonly [Parameters<typeof client.assistants.count>[0] & object, string])[] = [
      [{ metadata: { team } }, "bravo charlie Alpha delta"],
      [{ metadata: { team, at: 2 } }, "charlie"],
      [{ metadata: { team, deep: { a: 1, b: 3 } } }, "bravo"],
      [{ metadata: { team }, graphId: "agent" }, "bravo Alpha"],
      [{ metadata: { team }, graphId: "no such graph" }, ""],
      [{ metadata: { team }, name: "AL" }, "Alpha"],
      [{ metadata: { team, at: "2" } }, ""],
    ];
    for (const [query, expected] of cases) {
      const found = await client.assistants.search(query);
      assert.equal(joinNames(found), expected, JSON.stringify(query));
      assert.equal(await client.assistants.count(query), found.length);
    }
    assert.equal(await client.assistants.count(), await client.assistants.count({ metadata: {} }));
  });

  test("in the requested order, page by page", PATIENCE, async () => {
    await made;
    const metadata = { team };
    const sorted = async (sortBy: "name" | "graph_id" | "created_at", sortOrder: "asc" | "desc") =>
      joinNames(await client.assistants.search({ metadata, sortBy, sortOrder }));
    assert.equal(await sorted("name", "asc"), "Alpha bravo charlie delta");
    assert.equal(await sorted("name", "desc"), "delta charlie bravo Alpha");
    assert.equal(await sorted("created_at", "asc"), "delta Alpha charlie bravo");
    assert.equal(await sorted("graph_id", "asc"), "Alpha bravo delta charlie");
    const first = await client.assistants.search({ metadata, limit: 3, includePagination: true });
    assert.deepEqual([joinNames(first.assistants), first.next], ["bravo charlie Alpha", "3"]);
    const second = await client.assistants.search({ metadata, limit: 3, offset: 3, includePagination: true });
    assert.deepEqual([joinNames(second.assistants), second.next], ["delta", null]);
    const { headers } = await call(server, "POST", "/assistants/search", { metadata, limit: 1 });
    assert.equal(headers.get("x-pagination-total"), "4");
  });

  test("only the selected members", PATIENCE, async () => {
    await made;
    const found = await client.assistants.search({ metadata: { team, at: 0 }, select: ["name", "version"] });
    assert.deepEqual(found, [{ name: "delta", version: 1 }]);
  });
});

suite("deleting", () => {
  test("an assistant goes with its versions and its runs; its threads stay", PATIENCE, async () => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "settings" });
    await client.assistants.update(id, { name: "two" });
    const { thread_id: threadId } = await client.threads.create();
    await client.runs.wait(threadId, id, { input: {} });
    await client.runs.wait(threadId, "settings", { input: {} });
    assert.deepEqual((await call(server, "DELETE", `/assistants/${id}`)).body, [id]);
    await assert.rejects(client.assistants.get(id), refusal(404, "assistant_not_found"));
    await assert.rejects(client.assistants.getVersions(id), refusal(404, "assistant_not_found"));
    await assert.rejects(client.runs.wait(threadId, id, { input: {} }), refusal(404, "assistant_not_found"));
    const left = await client.runs.list(threadId);
    assert.deepEqual(
      left.map(({ assistant_id }) => assistant_id),
      [(await client.assistants.get("settings")).assistant_id],
    );
    assert.equal((await client.threads.get(threadId)).status, "idle");
  });

  test("with its threads: those whose metadata names it, in any status", PATIENCE, async () => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "agent" });
    const mine: Thread[] = [];
    for (let at = 0; at < 120; at++) mine.push(await client.threads.create({ metadata: { assistant_id: id } }));
    const [idle, paused, busy] = mine;
    assert.ok(idle && paused && busy);
    await client.runs.wait(paused.thread_id, id, { input: { some_text: "x" } });
    const { assistant_id: slowId } = await client.assistants.create({ graphId: "slow" });
    await client.threads.update(busy.thread_id, { metadata: { assistant_id: slowId } });
    const notes = newNotes(folder);
    await client.runs.create(busy.thread_id, slowId, { input: { notes: notes.notes, waitMs: 60_000 } });
    await notes.reached("waits");
    const other = await client.threads.create({ metadata: { assistant_id: NOWHERE } });

    await client.assistants.delete(id, { deleteThreads: true });
    assert.equal(await client.threads.count({ metadata: { assistant_id: id } }), 0);
    await assert.rejects(client.threads.get(paused.thread_id), refusal(404, "thread_not_found"));
    await client.assistants.delete(slowId, { deleteThreads: true });
    await assert.rejects(client.threads.get(busy.thread_id), refusal(404, "thread_not_found"));
    assert.equal((await client.threads.get(other.thread_id)).status, "idle");
  });

  test("not while a run on it is in progress, and then nothing is deleted", PATIENCE, async () => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "slow" });
    const { thread_id: threadId } = await client.threads.create();
    const { thread_id: marked } = await client.threads.create({ metadata: { assistant_id: id } });
    const notes = newNotes(folder);
    const run = await client.runs.create(threadId, id, { input: { notes: notes.notes, waitMs: 60_000 } });
    await notes.reached("waits");
    await client.threads.update(threadId, { metadata: { assistant_id: null } });
    for (const deleteThreads of [false, true]) {
      await assert.rejects(client.assistants.delete(id, { deleteThreads }), (error) => {
        assert.match(
          String(error),
          new RegExp(`"active_runs":\\[\\{"thread_id":"${threadId}","run_id":"${run.run_id}"`),
        );
        return refusal(409, "run_active")(error);
      });
    }
    assert.equal((await client.threads.get(marked)).status, "idle");
    await client.runs.cancel(threadId, run.run_id, true);
    await client.assistants.delete(id);
  });

  test("the assistant of a graph stays", PATIENCE, async () => {
    for (const name of ["agent", (await client.assistants.get("agent")).assistant_id])
      await assert.rejects(client.assistants.delete(name), refusal(409, "assistant_built_in"));
    assert.equal((await client.assistants.get("agent")).graph_id, "agent");
  });
});

suite("running", () => {
  test("each assistant of a graph brings its own config and context, which a run adds to", PATIENCE, async () => {
    const ann = await client.assistants.create(DRAFT);
    const bob = await client.assistants.create({ graphId: "settings", context: { user: "bob" } });
    const { thread_id: _id, ...config } = (await runOn(ann.assistant_id))["config"] as Record<string, unknown>;
    assert.deepEqual(config, { model: "small", tone: "kind" });
    assert.deepEqual((await runOn(bob.assistant_id))["context"], { user: "bob" });
    const own = await runOn(ann.assistant_id, { config: { configurable: { tone: "curt" } }, context: { dry: true } });
    const shown = own["config"] as Record<string, unknown>;
    assert.deepEqual([shown["model"], shown["tone"]], ["small", "curt"]);
    assert.deepEqual(own["context"], { user: "ann", dry: true });
    assert.deepEqual((await runOn("settings"))["context"], null);
  });

  test("a run keeps the config of its acceptance after changes of the assistant", PATIENCE, async () => {
    const { assistant_id: id } = await client.assistants.create(DRAFT);
    const { thread_id: threadId } = await client.threads.create();
    const notes = newNotes(folder);
    const first = await client.runs.create(threadId, "slow", { input: { notes: notes.notes, waitMs: 60_000 } });
    await notes.reached("waits");
    const queued = await client.runs.create(threadId, id, { input: {} });
    await client.assistants.update(id, { graphId: "agent", config: { configurable: { model: "big" } } });
    await client.runs.cancel(threadId, first.run_id, true);
    const result = (await client.runs.join(threadId, queued.run_id)) as Record<string, Record<string, unknown>>;
    assert.equal(result["config"]?.["model"], "small");
  });

  test("the config of an assistant cannot set the server's own keys", PATIENCE, async () => {
    const config = { configurable: { thread_id: NOWHERE, __pregel_checkpointer: "x" } };
    const { assistant_id: id } = await client.assistants.create({ graphId: "settings", config });
    const shown = (await runOn(id))["config"] as Record<string, unknown>;
    assert.notEqual(shown["thread_id"], NOWHERE);
  });
});

suite("describing the graph", () => {
  test("its drawing, with the requested depth of subgraphs", PATIENCE, async () => {
    const { assistant_id: id } = await client.assistants.create({ graphId: "annotated" });
    const readNodes = async (name: string, xray?: boolean | number) =>
      (await client.assistants.getGraph(name, xray === undefined ? {} : { xray })).nodes
        .map((node) => node.id)
        .join(" ");
    assert.equal(await readNodes(id), "__start__ outer work __end__");
    assert.equal(await readNodes("annotated", false), "__start__ outer work __end__");
    assert.equal(await readNodes(id, 1), "__start__ outer:inner outer:after work __end__");
    assert.equal(await readNodes(id, true), "__start__ outer:inner:check outer:inner:work outer:after work __end__");
    assert.equal(await readNodes("body", true), "0 1 2");
    const { nodes, edges } = await client.assistants.getGraph("agent");
    const any = { $schema: "https://json-schema.org/draft/2020-12/schema" };
    assert.deepEqual(nodes, [
      { id: "__start__", type: "schema", data: any },
      {
        id: "human_node",
        type: "runnable",
        data: { id: ["langgraph", "RunnableCallable"], name: "human_node" },
        metadata: {},
      },
      { id: "__end__", type: "schema", data: any },
    ]);
    assert.deepEqual(edges, [
      { source: "__start__", target: "human_node", conditional: false },
      { source: "human_node", target: "__end__", conditional: false },
    ]);
  });

  for (const [name, fields] of [
    ["zod4", "topic count size list tree when"],
    ["zod3", "topic count"],
    ["zod_messages", "messages"],
    ["state_schema", "messages step done old"],
    ["annotated", "messages topic item trail count"],
    ["parts", "question"],
  ] as const) {
    test(`its schemas: ${name} takes ${fields}`, PATIENCE, async () => {
      const schemas = await client.assistants.getSchemas(name);
      assert.equal(schemas.graph_id, name);
      assert.equal(Object.keys(schemas.input_schema?.properties ?? {}).join(" "), fields);
      for (const schema of [schemas.input_schema, schemas.output_schema, schemas.state_schema])
        assert.equal(schema?.type, "object");
      assert.deepEqual(schemas.config_schema, schemas.context_schema);
    });
  }

  test("schemas without declarations: everything is allowed, and no context", PATIENCE, async () => {
    const { output_schema, context_schema, config_schema } = await client.assistants.getSchemas("settings");
    const $schema = "http://json-schema.org/draft-07/schema#";
    assert.deepEqual(output_schema, { $schema, type: "object", properties: { config: {}, context: {} } });
    assert.deepEqual([context_schema, config_schema], [null, null]);
    assert.deepEqual((await client.assistants.getSchemas("zod4")).context_schema?.required, ["user"]);
  });

  test("TypeScript types supply the fields that Annotation lacks at run time", PATIENCE, async () => {
    const { state_schema } = await client.assistants.getSchemas("annotated");
    const { topic, item, trail, count, messages } = state_schema?.properties ?? {};
    assert.deepEqual(
      [topic, trail, count],
      [{ type: "string" }, { type: "array", items: { type: "string" } }, { type: "number", default: 7 }],
    );
    assert.deepEqual(item, { $ref: "#/definitions/Item" });
    const items = { $ref: "#/definitions/BaseMessage" };
    assert.deepEqual(messages, { type: "array", langgraph_type: "messages", items });
    const { definitions } = state_schema as unknown as { definitions: Record<string, { oneOf?: { $ref: string }[] }> };
    const { properties: fields, ...rest } = definitions["Item"] as { readonly properties: Record<string, object> };
    assert.deepEqual(rest, { type: "object", required: ["count", "kind", "next"] });
    const { next, ...others } = fields;
    assert.deepEqual(
      new Set((next as { readonly anyOf: readonly object[] }).anyOf.map((one) => JSON.stringify(one))),
      new Set(['{"type":"null"}', JSON.stringify(item)]),
    );
    assert.deepEqual(others, {
      count: { type: "number", description: "How many" },
      tags: { type: "array", items: { type: "string" } },
      kind: { type: "string", enum: ["a", "b"] },
    });
    const names = definitions["BaseMessage"]?.oneOf?.map(({ $ref }) => $ref.replace("#/definitions/", "")) ?? [];
    assert.deepEqual(
      names.toSorted(),
      Object.keys(definitions)
        .filter((name) => !["BaseMessage", "Item"].includes(name))
        .toSorted(),
    );
    assert.deepEqual(
      ["AIMessage", "BaseMessageChunk", "ToolMessage"].filter((name) => !names.includes(name)),
      [],
    );
    const { input_schema, output_schema } = await client.assistants.getSchemas("body");
    assert.deepEqual(Object.keys(input_schema?.properties ?? {}), ["topic"]);
    assert.deepEqual(Object.keys(output_schema?.properties ?? {}), ["text"]);
  });

  test("its subgraphs: below it, one by name, and all the way down, also in plain JavaScript", PATIENCE, async () => {
    const names = async (id: string, options?: { namespace?: string; recurse?: boolean }) =>
      Object.keys(await client.assistants.getSubgraphs(id, options)).join(" ");
    assert.equal(await names("annotated"), "outer");
    assert.equal(await names("annotated", { recurse: true }), "outer outer|inner");
    assert.equal(await names("annotated", { namespace: "outer" }), "outer");
    assert.equal(await names("annotated", { namespace: "outer", recurse: true }), "outer outer|inner");
    assert.equal(await names("annotated", { namespace: "outer|inner" }), "outer|inner");
    assert.equal(await names("annotated", { namespace: "oute" }), "");
    assert.equal(await names("agent", { recurse: true }), "");
    const { inner } = await client.assistants.getSubgraphs("zod_messages");
    const { state, input } = inner as unknown as Readonly<Record<string, object>>;
    assert.deepEqual([state, input], [inner?.state_schema, inner?.input_schema]);
    assert.deepEqual(inner?.input_schema?.properties, {
      topic: { type: "string" },
      count: { type: "number", default: 1 },
    });
  });

  test("RemoteGraph draws and opens it as it does a graph in its own process", PATIENCE, async () => {
    const remote = new RemoteGraph({ graphId: "annotated", url: server.url });
    const drawn = await remote.getGraphAsync({ xray: true });
    assert.equal(
      Object.keys(drawn.nodes).join(" "),
      "__start__ outer:inner:check outer:inner:work outer:after work __end__",
    );
    const below: string[] = [];
    for await (const [name] of remote.getSubgraphsAsync(undefined, true)) below.push(name);
    assert.deepEqual(below, ["outer", "outer|inner"]);
  });
});

const REFUSED: readonly (readonly [
  name: string,
  method: string,
  path: string,
  body: unknown,
  status: number,
  code: string,
])[] = [
  ["a graph that is not deployed", "POST", "/assistants", { graph_id: "nope" }, 404, "graph_not_found"],
  ["no graph", "POST", "/assistants", {}, 422, "invalid_request"],
  ["an id that is no UUID", "POST", "/assistants", { graph_id: "agent", assistant_id: "x" }, 422, "invalid_request"],
  [
    "a name that is too long",
    "POST",
    "/assistants",
    { graph_id: "agent", name: "n".repeat(257) },
    422,
    "invalid_request",
  ],
  ["a config that is no object", "POST", "/assistants", { graph_id: "agent", config: [] }, 422, "invalid_request"],
  [
    "a configurable that is no object",
    "POST",
    "/assistants",
    { graph_id: "agent", config: { configurable: "x" } },
    422,
    "invalid_request",
  ],
  ["metadata that is no object", "POST", "/assistants", { graph_id: "agent", metadata: "x" }, 422, "invalid_request"],
  ["an unknown if_exists", "POST", "/assistants", { graph_id: "agent", if_exists: "x" }, 422, "invalid_request"],
  ["a change to a graph that is not deployed", "PATCH", "/assistants/agent", { graph_id: "x" }, 404, "graph_not_found"],
  ["a change of nothing", "PATCH", `/assistants/${NOWHERE}`, {}, 404, "assistant_not_found"],
  ["deleting nothing", "DELETE", `/assistants/${NOWHERE}`, undefined, 404, "assistant_not_found"],
  ["a graph's name that is none", "GET", "/assistants/nope", undefined, 404, "assistant_not_found"],
  ["versions of nothing", "POST", `/assistants/${NOWHERE}/versions`, {}, 404, "assistant_not_found"],
  ["a version of nothing", "POST", `/assistants/${NOWHERE}/latest`, { version: 1 }, 404, "assistant_not_found"],
  ["a version that never was", "POST", "/assistants/agent/latest", { version: 9 }, 404, "assistant_version_not_found"],
  ["a version that is no number", "POST", "/assistants/agent/latest", { version: "1" }, 422, "invalid_request"],
  ["no version", "POST", "/assistants/agent/latest", {}, 422, "invalid_request"],
  ["a drawing of nothing", "GET", `/assistants/${NOWHERE}/graph`, undefined, 404, "assistant_not_found"],
  ["schemas of nothing", "GET", `/assistants/${NOWHERE}/schemas`, undefined, 404, "assistant_not_found"],
  ["subgraphs of nothing", "GET", "/assistants/nope/subgraphs", undefined, 404, "assistant_not_found"],
  ["a subgraph of nothing", "GET", "/assistants/nope/subgraphs/a", undefined, 404, "assistant_not_found"],
  ["an unknown depth", "GET", "/assistants/agent/graph?xray=deep", undefined, 422, "invalid_request"],
  ["a depth below nothing", "GET", "/assistants/agent/graph?xray=-1", undefined, 422, "invalid_request"],
  ["a depth that is too great", "GET", "/assistants/agent/graph?xray=101", undefined, 422, "invalid_request"],
  ["a page of nothing", "POST", "/assistants/search", { limit: 0 }, 422, "invalid_request"],
  ["a page that is too long", "POST", "/assistants/search", { limit: 1001 }, 422, "invalid_request"],
  ["an unknown order", "POST", "/assistants/search", { sort_by: "colour" }, 422, "invalid_request"],
  ["an unknown member", "POST", "/assistants/search", { select: ["secret"] }, 422, "invalid_request"],
];

for (const [name, method, path, body, status, code] of REFUSED) {
  test(`refused: ${name} is ${status} ${code}`, async () => {
    const answer = await call(server, method, path, body);
    assert.deepEqual([answer.status, (answer.body as { code?: string }).code], [status, code]);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/problem\+json/);
  });
}

test("a refusal for an unknown graph names the graphs there are", async () => {
  const { body } = await call(server, "POST", "/assistants", { graph_id: "nope" });
  assert.deepEqual((body as { known_graphs?: string[] }).known_graphs?.slice(0, 3), ["settings", "agent", "slow"]);
});

test("beyond the limit of assistants, the next one is assistant_limit", PATIENCE, async () => {
  const small = await startServerHere({ config: CONFIG, limits: { assistantsMax: 12 } });
  try {
    const own = new Client({ apiUrl: small.url, apiKey: null });
    const free = 12 - (await own.assistants.count());
    assert.ok(free > 0);
    for (let at = 0; at < free; at++) await own.assistants.create(DRAFT);
    await assert.rejects(own.assistants.create(DRAFT), refusal(409, "assistant_limit"));
  } finally {
    await small.stop();
    removeFolder(small.dataDir);
  }
});
