// Storage port for crons.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Cron, Scope } from "../model/model.ts";
import type { Awaitable, SizedId } from "@holdpoint/base/awaitable.ts";

export interface CronFilter {
  readonly scope: Scope;
  readonly metadata: JsonObject | null;
  readonly assistantId: string | null;
  readonly threadId: string | null;
  readonly enabled: boolean | null;
}

export interface CronQuery extends CronFilter {
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "cron_id" | "assistant_id" | "thread_id" | "created_at" | "updated_at" | "next_run_date";
  readonly descending: boolean;
}

/** Cron operations. Deleting a thread deletes its crons. */
export interface CronTx {
  cron(cronId: string): Awaitable<Cron | null>;
  insertCron(cron: Cron): Awaitable<void>;
  updateCron(cronId: string, patch: Partial<Cron>): Awaitable<void>;
  deleteCron(cronId: string): Awaitable<void>;
  /** Ids of a page, in order, with the size of each row. */
  searchCrons(query: CronQuery): Awaitable<readonly SizedId[]>;
  countCrons(filter: CronFilter): Awaitable<number>;
  /** Crons due at or before `at`, longest overdue first. */
  dueCrons(at: number, limit: number): Awaitable<readonly Cron[]>;
  /** Next due time; null if no cron is due. */
  nextCronAt(): Awaitable<number | null>;
  /**
   * Conditional update that assigns a tick to one process. @returns true if it moved the cron from `dueAt` to `nextAt`
   */
  claimTick(cronId: string, dueAt: number, nextAt: number | null): Awaitable<boolean>;
}
