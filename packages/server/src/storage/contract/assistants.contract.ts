// Contract of the storage port for assistants, one part of storage.contract.ts.
// Rules:
//   contract/assistants.1. An assistant reads back as stored, a context of null included; an id exists once.
//   contract/assistants.2. A search returns the matches of its filters and its scope, in order; a count ignores the
//        page.
//   contract/assistants.3. Versions come newest first; deletion removes an assistant's versions and no others.
//   contract/assistants.4. Runs are found by assistant, active and ended ones apart.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Assistant, AssistantVersion, Run, RunStatus, Scope } from "../../model/model.ts";
import { assistantRecord } from "../../model/testkit.ts";
import type { AssistantQuery, Storage } from "../../ports/ports.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";

const ALL: AssistantQuery = {
  scope: null,
  graphIds: ["g", "h"],
  name: null,
  metadata: null,
  limit: 100,
  offset: 0,
  sortBy: "created_at",
  descending: true,
};

const STORED: readonly Assistant[] = [
  assistantRecord("a", {
    name: "Über Alles",
    metadata: { owner: "ann", team: ["x", "y"] },
    createdAt: 3,
    updatedAt: 9,
  }),
  assistantRecord("b", { name: "beta", metadata: { owner: "bob", deep: { n: 1, m: 2 } }, createdAt: 2, updatedAt: 7 }),
  assistantRecord("c", { name: "alpha", graphId: "h", metadata: { owner: "ann", 'odd "key"': "v" }, createdAt: 2 }),
  assistantRecord("d", { name: "gone", graphId: "not deployed", createdAt: 5 }),
];

const eq = (key: string, value: string): Scope => [{ key, op: "eq", value }];

const SEARCHES: readonly (readonly [name: string, query: Partial<AssistantQuery>, ids: string])[] = [
  ["newest first, and the id decides between equals", {}, "acb"],
  ["oldest first turns that round", { descending: false }, "bca"],
  ["by name", { sortBy: "name", descending: false }, "cba"],
  ["by the last change", { sortBy: "updated_at" }, "abc"],
  ["by graph", { sortBy: "graph_id", descending: false }, "abc"],
  ["by id", { sortBy: "assistant_id" }, "cba"],
  ["a page", { limit: 1, offset: 1 }, "c"],
  ["one graph", { graphIds: ["g"] }, "ab"],
  ["no graph", { graphIds: [] }, ""],
  ["part of a name, in another case", { name: "ÜBER a" }, "a"],
  ["a name is no pattern", { name: "%" }, ""],
  ["a text member", { metadata: { owner: "ann" } }, "ac"],
  ["several members", { metadata: { owner: "ann", team: ["y"] } }, "a"],
  ["part of an object", { metadata: { deep: { n: 1 } } }, "b"],
  ["a number is no text", { metadata: { deep: "1" } }, ""],
  ["an odd key", { metadata: { 'odd "key"': "v" } }, "c"],
  ["an empty filter", { metadata: {} }, "acb"],
  ["a scope", { scope: eq("owner", "ann") }, "ac"],
  ["a scope that nothing is in", { scope: eq("owner", "eve") }, ""],
  ["a scope of a list's members", { scope: [{ key: "team", op: "contains", value: "x" }] }, "a"],
  ["a scope of one of several values", { scope: [{ key: "owner", op: "in", value: ["ann", 1] }] }, "ac"],
  ["a scope wants every condition", { scope: [...(eq("owner", "ann") ?? []), ...(eq("team", "x") ?? [])] }, ""],
  ["a scope and a filter", { scope: eq("owner", "ann"), metadata: { owner: "bob" } }, ""],
];

export function assistantCases(
  open: (t: TestContext) => Promise<Storage>,
  odd: JsonObject,
  newRun: (changes: Partial<Run>) => Run,
  newId: NewId,
): void {
  test("an assistant reads back as stored, also with a context of null (contract/assistants.1)", async (t) => {
    const storage = await open(t);
    for (const context of [null, [odd], "text", 0, false]) {
      const assistant = assistantRecord(newId(), { metadata: odd, config: odd, context, description: "d" });
      await storage.transaction((tx) => tx.insertAssistant(assistant));
      assert.deepEqual(await storage.transaction((tx) => tx.assistant(assistant.assistantId)), assistant);
    }
    assert.equal(await storage.transaction((tx) => tx.assistant(newId())), null);
  });

  test("an id exists once; a change affects only the assistant it names (contract/assistants.1)", async (t) => {
    const storage = await open(t);
    await storage.transaction((tx) => tx.insertAssistant(assistantRecord("a")));
    await assert.rejects(storage.transaction((tx) => tx.insertAssistant(assistantRecord("a", { name: "other" }))));
    await storage.transaction((tx) => tx.insertAssistant(assistantRecord("b")));
    await storage.transaction((tx) => tx.updateAssistant("a", { name: "new", context: null, version: 2 }));
    assert.deepEqual(
      await storage.transaction((tx) => tx.assistant("a")),
      assistantRecord("a", { name: "new", context: null, version: 2 }),
    );
    assert.deepEqual(await storage.transaction((tx) => tx.assistant("b")), assistantRecord("b"));
  });

  test("every filter narrows the search and the count (contract/assistants.2)", async (t) => {
    const storage = await open(t);
    await storage.transaction(async (tx) => {
      for (const assistant of STORED) await tx.insertAssistant(assistant);
    });
    for (const [name, changes, ids] of SEARCHES) {
      const query = { ...ALL, ...changes };
      const found = await storage.read((tx) => tx.searchAssistants(query));
      assert.equal(found.map(({ id }) => id).join(""), ids, name);
      if (query.limit === ALL.limit)
        assert.equal(await storage.read((tx) => tx.countAssistants(query)), ids.length, name);
    }
    assert.equal(await storage.transaction((tx) => tx.countAllAssistants()), STORED.length);
  });

  test("a search uses the current metadata, and the whole of a long text (contract/assistants.2)", async (t) => {
    const storage = await open(t);
    const long = "x".repeat(300);
    const find = (metadata: JsonObject) =>
      storage
        .read((tx) => tx.searchAssistants({ ...ALL, metadata }))
        .then((found) => found.map(({ id }) => id).join(" "));
    await storage.transaction((tx) =>
      tx.insertAssistant(assistantRecord("a", { metadata: { team: "x", text: long } })),
    );
    assert.deepEqual([await find({ text: long }), await find({ text: `${long}y` })], ["a", ""]);
    await storage.transaction((tx) => tx.updateAssistant("a", { metadata: { team: "y" } }));
    assert.deepEqual([await find({ team: "x" }), await find({ text: long }), await find({ team: "y" })], ["", "", "a"]);
    await storage.transaction((tx) => tx.updateAssistant("a", { name: "new" }));
    assert.equal(await find({ team: "y" }), "a");
    await storage.transaction((tx) => tx.deleteAssistant("a"));
    await storage.transaction((tx) => tx.insertAssistant(assistantRecord("a", { metadata: { team: "z" } })));
    assert.deepEqual([await find({ team: "y" }), await find({ team: "z" })], ["", "a"]);
  });

  test("versions: newest first, filtered, by number; the oldest expire; deletion removes them (contract/assistants.3)", async (t) => {
    const storage = await open(t);
    const buildVersion = (assistantId: string, version: number): AssistantVersion => {
      const { updatedAt: _updatedAt, ...rest } = assistantRecord(assistantId, {
        version,
        metadata: { odd: version % 2 === 1 },
        context: version === 2 ? null : { version },
        createdAt: version,
      });
      return rest;
    };
    await storage.transaction(async (tx) => {
      for (const id of ["a", "b"]) {
        await tx.insertAssistant(assistantRecord(id));
        for (const version of [1, 2, 3, 4]) await tx.insertAssistantVersion(buildVersion(id, version));
      }
    });
    await assert.rejects(storage.transaction((tx) => tx.insertAssistantVersion(buildVersion("a", 4))));
    const list = (query: { metadata?: JsonObject; limit?: number; offset?: number } = {}) =>
      storage.transaction(async (tx) => {
        const page = await tx.assistantVersions("a", { metadata: null, limit: 10, offset: 0, ...query });
        const versions: (AssistantVersion | null)[] = [];
        for (const { id } of page) versions.push(await tx.assistantVersion("a", id));
        return versions;
      });
    assert.deepEqual(
      await list(),
      [4, 3, 2, 1].map((version) => buildVersion("a", version)),
    );
    assert.deepEqual(await list({ limit: 1, offset: 2 }), [buildVersion("a", 2)]);
    assert.deepEqual(
      (await list({ metadata: { odd: true } })).map((one) => one?.version),
      [3, 1],
    );
    assert.deepEqual(await storage.transaction((tx) => tx.assistantVersion("a", 2)), buildVersion("a", 2));
    assert.equal(await storage.transaction((tx) => tx.assistantVersion("a", 5)), null);
    assert.equal(await storage.transaction((tx) => tx.newestAssistantVersion("a")), 4);
    assert.equal(await storage.transaction((tx) => tx.newestAssistantVersion("none")), 0);
    await storage.transaction((tx) => tx.deleteAssistantVersionsBefore("a", 3));
    assert.deepEqual(
      (await list()).map((one) => one?.version),
      [4, 3],
    );
    await storage.transaction((tx) => tx.deleteAssistant("a"));
    assert.deepEqual(await list(), []);
    assert.equal(await storage.transaction((tx) => tx.assistant("a")), null);
    assert.equal(await storage.transaction((tx) => tx.newestAssistantVersion("b")), 4);
    assert.deepEqual(await storage.transaction((tx) => tx.assistant("b")), assistantRecord("b"));
  });

  test("runs by assistant, active and ended apart, oldest first (contract/assistants.4)", async (t) => {
    const storage = await open(t);
    const statuses: readonly RunStatus[] = ["success", "pending", "error", "running", "timeout", "interrupted"];
    const runs = statuses.map((status) => newRun({ assistantId: "a", status }));
    await storage.transaction(async (tx) => {
      for (const run of runs) await tx.insertRun(run);
      await tx.insertRun(newRun({ assistantId: "b", status: "pending" }));
    });
    const found = (which: "active" | "ended", limit = 10) =>
      storage
        .transaction((tx) => tx.runsOfAssistant("a", which, limit))
        .then((list) => list.map(({ status }) => status).join(" "));
    assert.equal(await found("active"), "pending running");
    assert.equal(await found("ended"), "success error timeout interrupted");
    assert.equal(await found("ended", 2), "success error");
    assert.equal(await storage.transaction(async (tx) => (await tx.runsOfAssistant("none", "active", 1)).length), 0);
  });
}
