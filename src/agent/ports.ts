// Ports: what the agent room needs from the outside. Adapters live in graphs/ and storage/; src/main/ chooses them.
export type * from "./ports/access.ts";
export type * from "./ports/assistants.ts";
export type * from "./ports/awaitable.ts";
export type * from "./ports/checkpoints.ts";
export type * from "./ports/crons.ts";
export type * from "./ports/engine.ts";
export type * from "./ports/events.ts";
export type * from "./ports/graphs.ts";
export type * from "./ports/interrupts.ts";
export type * from "./ports/runs.ts";
export type * from "./ports/storage.ts";
export type * from "./ports/store.ts";
export type * from "./ports/threads.ts";
export type * from "./ports/tracing.ts";
export type * from "./ports/webhooks.ts";
