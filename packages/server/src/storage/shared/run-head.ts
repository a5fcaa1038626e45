// Run head: a row of a list of runs, the same in every database.
import type { RunStatus } from "../../model/model.ts";
import type { RunHead } from "../../ports/ports.ts";

export function readHead(row: Readonly<Record<string, unknown>>): RunHead {
  return {
    threadId: String(row["thread_id"]),
    runId: String(row["run_id"]),
    status: row["status"] as RunStatus,
    attempt: Number(row["attempt"]),
    updatedAt: Number(row["updated_at"]),
    bytes: Number(row["bytes"] ?? 0),
  };
}
