// Test of the OpenAPI document. Checked:
//   openapi.1. Every operation has a description and an example; an example is valid for the schema of its place
//        (notes.1).
//   openapi.2. The table of calls in docs/reference/agent-server.md has exactly the operations.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { NOTES } from "@holdpoint/api/notes/notes.ts";
import { openApiDocument } from "@holdpoint/api/docs-page/document.ts";
import { everyOperation } from "./operations.ts";

const operations = await everyOperation();

test("every operation has a description and an example (openapi.1)", () => {
  assert.ok(operations.length > 60);
  assert.deepEqual(Object.keys(NOTES).toSorted(), operations.map(({ id }) => id).toSorted());
  const { paths } = openApiDocument(operations, "0.0.0", "") as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  };
  for (const { id, method, path, summary } of operations) {
    assert.match(NOTES[id]?.description ?? "", /^[A-Z`][^]+\.$/, id);
    assert.notEqual(NOTES[id]?.description, `${summary}.`, id);
    assert.match(JSON.stringify(paths[path]?.[method]), /"example":/, id);
  }
});

test("an example is valid for the schema of its place (openapi.1)", () => {
  for (const { id, query, body, reply } of operations) {
    const note = NOTES[id];
    if (note?.body !== undefined) assert.ok(body.safeParse(note.body).success, `${id}: body`);
    if (note?.query !== undefined) assert.ok(query.safeParse(note.query).success, `${id}: query`);
    if (note?.reply === undefined || note.media !== undefined) continue;
    const parsed = reply.schema?.safeParse(note.reply);
    assert.deepEqual(parsed?.error?.issues ?? [], [], `${id}: reply`);
  }
});

/** Calls of a cell: in "`GET`, `POST /threads`", each method is that of the path that follows. */
function callsIn(cell: string): readonly string[] {
  let methods: readonly string[] = [];
  let isOver = false;
  return [...cell.matchAll(/`([A-Z]+)? ?(\/[^`]*)?`/g)].flatMap(([, method, path]) => {
    if (method !== undefined) methods = isOver ? [method] : [...methods, method];
    isOver = path !== undefined;
    return path === undefined ? [] : methods.map((one) => `${one} ${path}`);
  });
}

test("docs/reference/agent-server.md lists exactly the operations (openapi.2)", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/reference/agent-server.md"), "utf8");
  const table = page.split("\n## API calls\n")[1]?.split("\n## ")[0] ?? "";
  const documented = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => callsIn(cell));
  const pages = ["GET /docs"];
  const expected = [...operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`), ...pages];
  assert.deepEqual(documented.toSorted(), expected.toSorted());
});
