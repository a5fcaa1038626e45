// Stored form of a run's request: members that have their default value are left out. On SQLite, each change of a run
// writes its whole row to the write-ahead log, and a page has 1 KB.
import type { RunRequest } from "../../model/model.ts";

const DEFAULTS = {
  command: null,
  config: {},
  context: null,
  interruptBefore: null,
  interruptAfter: null,
  durability: "async",
  checkpointId: null,
  goesFirst: false,
  user: null,
  permissions: [],
} as const satisfies Partial<RunRequest>;

/** The members that differ from their default. The result stands for a whole request until it is read. */
export function shortRequest(request: RunRequest): RunRequest {
  const kept = Object.entries(request).filter(([name, value]) => !isDefault(name, value));
  return Object.fromEntries(kept) as unknown as RunRequest;
}

/** The request of a row, in the short form or whole. */
export function wholeRequest(stored: Partial<RunRequest>): RunRequest {
  return { ...DEFAULTS, ...stored };
}

function isDefault(name: string, value: unknown): boolean {
  if (!(name in DEFAULTS)) return value === undefined;
  const standard = DEFAULTS[name as keyof typeof DEFAULTS];
  if (standard === null || typeof standard !== "object") return value === standard;
  return value !== null && typeof value === "object" && Object.keys(value).length === 0;
}
