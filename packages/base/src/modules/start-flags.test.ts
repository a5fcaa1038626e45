import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { START_FLAGS } from "./start-flags.ts";

test("V8 of this Node knows the flags", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  for (const flag of START_FLAGS) {
    const name = flag.replace(/=.*/, "").replace("--no-", "--");
    assert.ok(options.includes(`  ${name} (`), `${process.version} has no ${name}`);
  }
});
