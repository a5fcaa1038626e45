// Create Holdpoint: `import { createHoldpoint } from "holdpoint"`: the agent server inside another program.
// The pieces:
//   interrupts.ts  the other entry: `holdpoint/interrupts`
//   interrupts/    its requests to people, one file a kind
//   open-holdpoint.ts  the server, put together
// Rules:
//   - No port opens, no signal is taken, and the environment is not read for settings: a variable such as DATABASE_URL
//     belongs to the host program. Only the `env` section of a langgraph.json reads and adds variables.
//   - The host program decides who may call, unless HOLDPOINT_API_KEYS or `auth` of langgraph.json do.
//   - Every promise of the server holds: accepted runs and pauses are on disk before a reply leaves.
import { openHoldpoint, type Holdpoint, type HoldpointOptions } from "./open-holdpoint.ts";

export type { Holdpoint, HoldpointOptions };

/** @throws {Error} with the reason; nothing is left open then. */
export async function createHoldpoint(options: HoldpointOptions): Promise<Holdpoint> {
  return openHoldpoint(options);
}
