// The rules file as its how-to shows it: every example passes the check of the command, with no variable set.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readRules, rulesText } from "@holdpoint/collector/service/rules-file.ts";
import { testConfig } from "../fakes/collector.ts";
import { holdpoint } from "../harness/cli.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const PAGE = readFileSync(join(ROOT, "docs", "how-to", "trace-rules.md"), "utf8");
const EXAMPLES = [...PAGE.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

describe("the how-to of rules", () => {
  test("has examples of every kind of rule", () => {
    const kinds = new Set(EXAMPLES.flatMap((text) => Object.keys(JSON.parse(text) as object)));
    for (const kind of ["redact", "drop", "sample", "forward", "limits"]) assert.ok(kinds.has(kind), kind);
  });

  for (const [index, text] of EXAMPLES.entries())
    test(`example ${index + 1} passes the check`, () => {
      const folder = temporaryFolder();
      writeFileSync(`${folder}/rules.json`, text);
      assert.match(rulesText(readRules(testConfig({ RULES_FILE: `${folder}/rules.json` }))), /[1-9]/);
      removeFolder(folder);
    });

  test("the command checks the first one, with a byte order mark too", async () => {
    const folder = temporaryFolder();
    for (const mark of ["", "\ufeff"]) {
      writeFileSync(`${folder}/rules.json`, mark + (EXAMPLES[0] ?? ""));
      const { code, out } = await holdpoint(["collector", "rules", `${folder}/rules.json`]);
      assert.deepEqual([code, /: rules: 6 redact, /.test(out)], [0, true]);
    }
    removeFolder(folder);
  });
});
