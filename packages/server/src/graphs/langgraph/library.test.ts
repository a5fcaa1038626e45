// Tests of the library version that the server starts with (library.1).
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { LibraryError, libraryVersion } from "./library.ts";

const ROOT = join(import.meta.dirname, "../../../../..");

/** A folder that resolves LangGraph in this version. */
function folderWith(t: TestContext, version: string): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-library-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const root = join(folder, "node_modules/@langchain/langgraph");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}"); // complete in itself, whatever the folders above it hold
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "@langchain/langgraph", version }));
  return folder;
}

for (const version of ["1.4.18", "1.4.19", "1.5.0", "1.10.2", "1.7.4-rc.1"]) {
  test(`the server starts with LangGraph ${version} (library.1)`, (t) => {
    assert.equal(libraryVersion(folderWith(t, version)), version);
  });
}

for (const version of ["0.9.20", "1.3.30", "1.4.9", "1.4.17", "2.0.0", "2.0.0-rc.1", "next"]) {
  test(`the server does not start with LangGraph ${version} (library.1)`, (t) => {
    const folder = folderWith(t, version);
    const says = new RegExp(`langgraph ${version.replaceAll(".", "\\.")} in .* from 1\\.4\\.18 to below 2\\.0\\.0$`);
    assert.throws(
      () => libraryVersion(folder),
      (error) => error instanceof LibraryError && says.test(error.message),
    );
  });
}

test("the first version is the oldest tested one, and that of the package", () => {
  const tested = JSON.parse(readFileSync(join(ROOT, "test/langgraph-1.4/package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  assert.equal(tested.dependencies["@langchain/langgraph"], "1.4.18");
  assert.match(readFileSync(join(ROOT, "deploy/package.ts"), "utf8"), /"@langchain\/langgraph": ">=1\.4\.18 <2"/);
});
