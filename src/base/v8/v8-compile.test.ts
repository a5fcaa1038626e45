import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { TURBOFAN_FLAG } from "./v8-compile.ts";

test("V8 of this Node knows the flag", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  assert.ok(options.includes(`  ${TURBOFAN_FLAG} (`), `${process.version} has no ${TURBOFAN_FLAG}`);
});
