// The oldest supported LangGraph, from test/langgraph-1.4. A server uses the library that its graphs resolve, and
// modules resolve by their real path: so graphs for it are copied into that folder.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { nestedProject } from "./nested-project.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** A folder from which modules resolve it, deleted at exit. @throws when it is not installed */
export function oldestProject(): string {
  const folder = mkdtempSync(join(nestedProject("test/langgraph-1.4"), ".work-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A copy of the test graphs that uses it. */
export function copyForOldest(): string {
  const folder = oldestProject();
  for (const part of [
    join("test", "graphs"),
    join("examples", "agent"),
    join("examples", "steps"),
    join("examples", "chat", "graph.ts"),
  ])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  return folder;
}
