// Storage port for the limits of tenants: whose a thread, a run and an item is, and what a tenant uses.
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

export interface TenantTx {
  /** Until the commit no other transaction counts for this tenant. The first lock of its transaction. */
  holdTenant(tenant: string): Awaitable<void>;
  ownThread(threadId: string, tenant: string): Awaitable<void>;
  /** The run is that of its thread's tenant. */
  ownRun(runId: string): Awaitable<void>;
  ownStoreItem(namespace: readonly string[], key: string, tenant: string): Awaitable<void>;
  /** Runs that are queued or running. */
  countTenantRuns(tenant: string): Awaitable<number>;
  /** Open items of the tenant's threads. */
  countTenantQuestions(tenant: string): Awaitable<number>;
  /** Bytes of the tenant's threads and items, and the rows that were looked at. */
  measureTenant(tenant: string): Awaitable<{ readonly bytes: number; readonly rows: number }>;
}
