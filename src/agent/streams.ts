// Streams: who reads which run, from where on, and which of its events.
import type { Agent } from "./agent.ts";
import { readRun, type Reading } from "./events/reader.ts";
import type { Run } from "./model.ts";

/** The run's own caller reads it from its first event. */
export function readOwnRun(agent: Agent, run: Run): Reading {
  return readRun(agent, run, 0, null);
}
