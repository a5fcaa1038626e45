// Crons in storage.
import type { JsonObject } from "../../base/json/json.ts";
import type { Cron, Scope } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";

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

/** The crons' verbs. Those of a thread go with it. */
export interface CronTx {
  cron(cronId: string): Awaitable<Cron | null>;
  insertCron(cron: Cron): Awaitable<void>;
  updateCron(cronId: string, patch: Partial<Cron>): Awaitable<void>;
  deleteCron(cronId: string): Awaitable<void>;
  searchCrons(query: CronQuery): Awaitable<readonly Cron[]>;
  countCrons(filter: CronFilter): Awaitable<number>;
  /** Those that are due at `at` or were before, the longest due first. */
  dueCrons(at: number, limit: number): Awaitable<readonly Cron[]>;
  /** When the next one is due; null when none is. */
  nextCronAt(): Awaitable<number | null>;
  /** The conditional update that gives a tick to one: true when the cron was due at `dueAt` and now is at `nextAt`. */
  claimTick(cronId: string, dueAt: number, nextAt: number | null): Awaitable<boolean>;
}
