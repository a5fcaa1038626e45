// Limits and times of the agent server that hold in every installation. Tests pass others (holdpoint/main/host.ts).
const MEBIBYTE = 1024 * 1024;

export const AGENT_LIMITS = {
  /** Queued runs; beyond it, calls get 503. */
  pendingRunsMax: 100_000,
  /** Times that a question is asked again by itself after its node threw at the answer; then the thread fails. */
  askAgainMax: 3,
  /** Stored assistants, including those of the graphs; beyond it, calls get 409. */
  assistantsMax: 100_000,
  /** Stored crons; beyond it, calls get 409. */
  cronsMax: 10_000,
  /** Bytes of JSON of metadata, config, context, a filter, or any other member without values for a graph. */
  memberBytesMax: MEBIBYTE,
  /** Bytes of JSON of one item of the store. */
  storeItemBytesMax: MEBIBYTE,
  /** Bytes of JSON of a value that a node passes to interrupt(); beyond it, the run fails. */
  interruptBytesMax: 8 * MEBIBYTE,
  /** Bytes of JSON of the answers of one call; beyond it, the call gets 413. */
  answerBytesMax: 4 * MEBIBYTE,
  /** Between two newlines that keep a waiting call open. */
  keepAliveMs: 5000,
  /** Without an event, a stream gets a comment. */
  streamHeartbeatMs: 15_000,
  /** Without a step, a tool call of MCP gets a message of progress. */
  progressEveryMs: 12_000,
  /** After the end of a run, readers can get its events. */
  streamKeptSecs: 60,
  /** The same for runs of the thread protocol, whose pages replay them when they load. */
  protocolStreamKeptSecs: 3600,
  /** After the end of a run of the thread protocol, its text deltas and `tasks` events are removed. */
  protocolCompactSecs: 60,
  /** Events kept of one run; beyond it, the oldest are deleted. */
  streamEventsMax: 100_000,
  /** Bytes kept of one run's events. */
  streamBytesMax: 64 * MEBIBYTE,
  /** Deliveries of a webhook before it is dropped. */
  webhookAttemptsMax: 16,
  /** Before the next delivery; doubles with each failure, up to an hour. */
  webhookRetryMs: 5000,
  /** To read the schemas of graphs from their TypeScript types. */
  schemaTimeoutMs: 30_000,
  /** A person must sign in again, even if active; changes of groups apply from then on. */
  sessionLifeMs: 7 * 24 * 60 * 60 * 1000,
} as const;

export type AgentLimits = Readonly<Record<keyof typeof AGENT_LIMITS, number>>;
