// Tenants: the limits of a caller, and the decision about what would break one.
// Invariants:
//   - Runs, questions and bytes are counted in the transaction that adds to them, under the lock of the tenant: two
//     servers never both let in what one of them may. The lock is the first of its transaction, so that it never waits
//     for a thread.
//   - The rate counts in this process. A call passes with one token and may leave a debt.
//   - What ends a question is never refused: an answer, a continuation, a cancellation, a deletion.
//   - Each run that has not ended may still ask, so it counts as a question. The pause itself is not refused: its work
//     would be lost.
//   - Bytes: the call that reaches the limit passes, the next one does not. The larger a tenant, the longer its size
//     holds.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Caller, LimitName, TenantLimit, TenantLimits } from "../model/model.ts";
import type { TenantTx } from "../ports/ports.ts";

export interface Tenant {
  readonly name: string;
  /** @throws {ApiError} `limit_reached` */
  takeCalls(count: number): void;
  hold(tx: TenantTx): Promise<void>;
  /** After hold(). Includes admitQuestion(). @throws {ApiError} `limit_reached` */
  admitRun(tx: TenantTx): Promise<void>;
  /** With hold(). Includes admitBytes(). @throws {ApiError} `limit_reached` */
  admitQuestion(tx: TenantTx): Promise<void>;
  /** With hold(). @throws {ApiError} `limit_reached` */
  admitBytes(tx: TenantTx): Promise<void>;
}

export interface Tenants {
  find(caller: Caller): Tenant;
}

export interface TenantPorts {
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Log;
  readonly onRefusal: (limit: LimitName) => void;
}

interface Usage {
  tokens: number;
  at: number;
  /** Size of the tenant, until then. */
  bytes: number;
  bytesUntil: number;
  /** The last line in the log for each limit. */
  readonly logged: Map<LimitName, number>;
}

const TENANTS_MAX = 10_000;
const LOG_EVERY_MS = 60_000;
/** A size with fewer rows is measured anew each time; one of a million rows, which takes a second, holds for 20. */
const ROWS_AT_ONCE = 20_000;
const ROWS_PER_MS = 50;
const RETRY_SECONDS = { runs_max: 5, questions_max: 60, bytes_max: 60 } as const;

export function createTenants({ tenant: member, fallback, named }: TenantLimits, ports: TenantPorts): Tenants {
  const used = new Map<string, Usage>();
  return {
    find(caller) {
      const own = member === null ? null : readMember(caller, member);
      const name = own ?? caller.name;
      const limit = ((member === null || own !== null) && named.get(name)) || fallback; // a name is that of a tenant
      // A tenant and a caller outside any tenant may have one name.
      const key = own === null ? name : `${member ?? ""}=${own}`;
      return createTenant(key, limit, { ...ports, findUsage: () => findUsage(used, key, limit, ports) });
    },
  };
}

function findUsage(used: Map<string, Usage>, key: string, limit: TenantLimit, { clock }: TenantPorts): Usage {
  const now = clock.monotonic();
  const found = used.get(key) ?? { tokens: limit.burst, at: now, bytes: 0, bytesUntil: -Infinity, logged: new Map() };
  used.delete(key);
  used.set(key, found);
  const [oldest] = used.keys();
  if (used.size > TENANTS_MAX && oldest !== undefined) used.delete(oldest);
  const gained = ((limit.callsPerSecond ?? 0) * (now - found.at)) / 1000;
  found.tokens = Math.min(limit.burst, found.tokens + gained);
  found.at = now;
  return found;
}

/** Reads the user that handlers return, or the metadata that a stored key or a role is limited to. */
function readMember({ user, limits }: Caller, member: string): string | null {
  const value = user?.[member] ?? limits?.metadata[member];
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

type OwnPorts = TenantPorts & { readonly findUsage: () => Usage };

function createTenant(name: string, limit: TenantLimit, ports: OwnPorts): Tenant {
  const { callsPerSecond, runsMax, questionsMax, bytesMax } = limit;
  const counts = runsMax !== null || questionsMax !== null || bytesMax !== null;
  const refuse = (reached: LimitName, max: number, retryAfter: number): ApiError => {
    noteRefusal(name, reached, ports);
    const detail = `${name} has reached its limit ${reached} of ${max}.`;
    return new ApiError("limit_reached", detail, { limit: reached, max }, { "Retry-After": String(retryAfter) });
  };
  const admitBytes = async (tx: TenantTx): Promise<void> => {
    if (bytesMax === null) return;
    await tx.holdTenant(name);
    if ((await measure(name, tx, ports)) >= bytesMax) throw refuse("bytes_max", bytesMax, RETRY_SECONDS.bytes_max);
  };
  const admitQuestion = async (tx: TenantTx): Promise<void> => {
    if (questionsMax !== null) {
      await tx.holdTenant(name);
      const asked = (await tx.countTenantRuns(name)) + (await tx.countTenantQuestions(name));
      if (asked >= questionsMax) throw refuse("questions_max", questionsMax, RETRY_SECONDS.questions_max);
    }
    await admitBytes(tx);
  };
  return {
    name,
    takeCalls(count) {
      if (callsPerSecond === null) return;
      const usage = ports.findUsage();
      const missing = 1 - usage.tokens;
      if (missing > 0)
        throw refuse("calls_per_second", callsPerSecond, Math.max(1, Math.ceil(missing / callsPerSecond)));
      usage.tokens -= count;
    },
    async hold(tx) {
      if (counts) await tx.holdTenant(name);
    },
    async admitRun(tx) {
      if (runsMax !== null && (await tx.countTenantRuns(name)) >= runsMax)
        throw refuse("runs_max", runsMax, RETRY_SECONDS.runs_max);
      await admitQuestion(tx);
    },
    admitQuestion,
    admitBytes,
  };
}

async function measure(name: string, tx: TenantTx, { clock, findUsage: find }: OwnPorts): Promise<number> {
  const usage = find();
  if (clock.monotonic() < usage.bytesUntil) return usage.bytes;
  const { bytes, rows } = await tx.measureTenant(name);
  usage.bytes = bytes;
  usage.bytesUntil = rows < ROWS_AT_ONCE ? -Infinity : clock.monotonic() + rows / ROWS_PER_MS;
  return bytes;
}

/** One line a minute. */
function noteRefusal(tenant: string, limit: LimitName, { clock, log, onRefusal, findUsage: find }: OwnPorts): void {
  onRefusal(limit);
  const { logged } = find();
  const now = clock.monotonic();
  if (now - (logged.get(limit) ?? -Infinity) < LOG_EVERY_MS) return;
  logged.set(limit, now);
  log.warning("limit_reached", { tenant, limit });
}
