// The LangGraph that test graphs run on: the pinned one, or with HOLDPOINT_TEST_LANGGRAPH=oldest the oldest supported
// one, from test/langgraph-1.4. A server uses the library that its graphs resolve, and modules resolve by their real
// path: so the harness copies graphs for the oldest into that folder.
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
const OLDEST = join(ROOT, "test", "langgraph-1.4");

export const onOldest = process.env["HOLDPOINT_TEST_LANGGRAPH"] === "oldest";

/**
 * A folder from which modules resolve the oldest LangGraph, deleted at exit. @throws when that is not installed
 */
export function oldestProject(): string {
  if (!existsSync(join(OLDEST, "node_modules", "@langchain", "langgraph", "package.json")))
    throw new Error("the oldest LangGraph is not installed: npm ci --ignore-scripts --prefix test/langgraph-1.4");
  const folder = mkdtempSync(join(OLDEST, ".work-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The langgraph.json of the test graphs. */
export const TEST_GRAPHS = join(onOldest ? copyForOldest() : ROOT, "test", "graphs", "langgraph.json");

/** A copy of the test graphs that uses the oldest library. */
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
