// Model: the entities of the agent server as plain data. No behaviour, no storage, no LangGraph.
// The pieces:
//   thread.ts              a conversation with durable state
//   run.ts                 one execution on a thread, its request, its webhook
//   interrupt.ts           a question of a node, its answer, the audit trail
//   checkpoint.ts          the stored state of a thread
//   assistant.ts           a graph with its config, and crons
//   store-item.ts          an entry of the long-term memory
//   caller.ts              the caller of a request, and the objects in reach
//   identity.ts            people, sessions, keys of programs, roles
//   policy.ts              an answer in advance
//   tenant.ts              limits of keys, people and tenants
//   status.ts              the transitions of threads and runs
//   crash-suspects.ts      runs that a crash of their process makes suspect
//   assistant-defaults.ts  configs of built-in assistants from the settings
//   built-in-assistant.ts  ids of built-in assistants
//   audit-author.ts        the author of an audit entry
//   audit-actions.ts       what audit entries say: decisions and acts
//   empty-write-set.ts     no pending writes
//   protocol-lines.ts      lines of the thread protocol in event logs
export type * from "./assistant.ts";
export type * from "./caller.ts";
export { BIG_VALUE_UNITS, mayHoldTags, parseStored, TAG } from "./checkpoint.ts";
export type * from "./checkpoint.ts";
export type * from "./identity.ts";
export type * from "./interrupt.ts";
export { CONFIG_AUTHOR } from "./policy.ts";
export type * from "./policy.ts";
export { VALUES_ONLY } from "./run.ts";
export type * from "./run.ts";
export type * from "./store-item.ts";
export type * from "./tenant.ts";
export type * from "./thread.ts";
