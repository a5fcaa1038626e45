// The names of channels in the oldest supported LangGraph: no update of a caller writes to one of its own
// (langgraph/control-values.2).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rejectControlValues } from "@holdpoint/server/graphs/langgraph/control-values.ts";
import { nestedProject } from "./nested-project.ts";

test("no update writes to a channel that the oldest version of the library names", () => {
  const file = join(nestedProject("test/langgraph-1.4"), "node_modules/@langchain/langgraph/dist/constants.js");
  const names = [...readFileSync(file, "utf8").matchAll(/"(__\w+|branch:to:|join:)"/g)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "__root__");
  assert.ok(names.includes("__resume__") && names.length > 20, names.join());
  for (const name of names)
    for (const update of [{ [name]: 1 }, [[name, 1]]])
      assert.throws(() => rejectControlValues({ update }), { code: "control_value_refused" }, name);
});
