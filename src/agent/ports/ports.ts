// Ports: interfaces that the agent room requires. Adapters live in graphs/ and storage/; src/main/ selects them.
export type * from "./access.ts";
export type * from "./assistants.ts";
export type * from "./awaitable.ts";
export type * from "./checkpoints.ts";
export type * from "./crons.ts";
export type * from "./engine.ts";
export type * from "./events.ts";
export type * from "./graphs.ts";
export type * from "./interrupts.ts";
export type * from "./runs.ts";
export type * from "./storage.ts";
export type * from "./store.ts";
export type * from "./threads.ts";
export type * from "./tracing.ts";
export type * from "./webhooks.ts";
