// The LangGraph that test graphs run on: the pinned one, or with HOLDPOINT_TEST_LANGGRAPH=oldest the oldest supported
// one (outside/oldest-langgraph.ts).
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

export const onOldest = process.env["HOLDPOINT_TEST_LANGGRAPH"] === "oldest";

const { copyForOldest } = onOldest ? await import("../outside/oldest-langgraph.ts") : { copyForOldest: () => ROOT };

/** The langgraph.json of the test graphs. */
export const TEST_GRAPHS = join(copyForOldest(), "test", "graphs", "langgraph.json");
