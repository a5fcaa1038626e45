// Model: the entities of the agent server as plain data. No behaviour, no storage, no LangGraph.
// The pieces: one file per entity.
export type * from "./assistant.ts";
export type * from "./caller.ts";
export { BIG_VALUE_UNITS, TAG } from "./checkpoint.ts";
export type * from "./checkpoint.ts";
export type * from "./interrupt.ts";
export { VALUES_ONLY } from "./run.ts";
export type * from "./run.ts";
export type * from "./store-item.ts";
export type * from "./thread.ts";
