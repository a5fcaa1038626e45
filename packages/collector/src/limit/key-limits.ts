// Key limits: rate and daily quota of each API key, in memory, for all transports and signals.
// Invariants:
//   key-limits.1. A key is the API key alone: another X-Tenant-Id gives no further quota.
//   - take() decides and counts in one step, so concurrent requests cannot pass one limit together.
//   key-limits.3. Every listed key keeps its state, and KEYS_MAX others. Those with the least usage of the day go first:
//        invented keys do not take the place of a key at its quota.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { hashOfKey } from "../shared/key-hash.ts";
import type { Tenant } from "../shared/tenants.ts";
import {
  type Amount,
  charged,
  type KeyLimit,
  LIMIT_REASONS,
  type LimitReason,
  type Moment,
  overLimit,
  type OverLimit,
  beginUsage,
  type Usage,
  refillUsage,
} from "./key-usage.ts";
import type { LimitsDefinition } from "./limits-schema.ts";

export interface KeyLimits {
  /** Without counting anything. null: the key is within its limits. */
  readonly check: (tenant: Tenant) => OverLimit | null;
  /** Counts the request unless the key is over a limit. */
  readonly take: (tenant: Tenant, amount: Amount) => OverLimit | null;
  /** For a request that was taken and then refused. */
  readonly refund: (tenant: Tenant, amount: Amount) => void;
  /** The cost of a run whose request was taken. */
  readonly spend: (tenant: Tenant, usd: number) => void;
  /** Whether the bytes of this key count. */
  readonly hasQuotaOfBytes: (tenant: Tenant) => boolean;
  /** Refused requests. */
  readonly refused: Readonly<Record<LimitReason, number>>;
}

interface KeyState {
  readonly name: string | null;
  readonly limit: KeyLimit;
  usage: Usage;
}

type LimitDefinition = LimitsDefinition["default"];

const KEYS_MAX = 10_000;
const DROPPED_AT_ONCE = 1000;
const BURST_SECONDS = 10;

export function createKeyLimits(
  definition: LimitsDefinition,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): KeyLimits {
  const special = new Map(
    definition.keys.map(({ key_sha256, name, ...own }) => [
      key_sha256,
      { name, limit: mergeLimit(own, definition.default) },
    ]),
  );
  const ofOthers = { name: null, limit: mergeLimit({}, definition.default) };
  const states = new Map<string, KeyState>();
  const refused = Object.fromEntries(LIMIT_REASONS.map((reason) => [reason, 0])) as Record<LimitReason, number>;

  function findState({ apiKey }: Tenant, now: Moment): KeyState {
    const known = states.get(apiKey); // key-limits.1
    states.delete(apiKey);
    const state = known ?? newState(apiKey, now);
    states.set(apiKey, state);
    if (states.size > KEYS_MAX + special.size) dropLeastUsed(apiKey); // key-limits.3
    state.usage = refillUsage(state.usage, state.limit, now);
    return state;
  }

  /** A part at once, so that the search is rare. */
  function dropLeastUsed(current: string): void {
    const others = [...states].filter(([key, { name }]) => name === null && key !== current);
    others.sort(([, one], [, other]) => one.usage.items + one.usage.bytes - (other.usage.items + other.usage.bytes));
    for (const [key] of others.slice(0, DROPPED_AT_ONCE)) states.delete(key);
  }

  function newState(apiKey: string, now: Moment): KeyState {
    const found = special.get(hashOfKey(apiKey)) ?? ofOthers;
    return { ...found, usage: beginUsage(found.limit, now) };
  }

  /** `amount` null: counts nothing. */
  function decide(tenant: Tenant, amount: Amount | null): OverLimit | null {
    const now = readMoment(clock);
    const state = findState(tenant, now);
    const over = overLimit(state.usage, state.limit, now);
    if (over === null) {
      if (amount !== null) state.usage = charged(state.usage, amount);
      return null;
    }
    refused[over.reason]++;
    log.warning("key_over_limit", {
      tenant: tenant.id.slice(0, 8),
      ...(state.name === null ? {} : { name: state.name }),
      reason: over.reason,
      retry_after_seconds: over.retryAfterSeconds,
    });
    return over;
  }

  return {
    check: (tenant) => decide(tenant, null),
    take: decide,
    refund(tenant, { items, bytes }) {
      const state = states.get(tenant.apiKey);
      if (state !== undefined) state.usage = charged(state.usage, { items: -items, bytes: -bytes });
    },
    spend(tenant, usd) {
      const state = findState(tenant, readMoment(clock));
      state.usage = { ...state.usage, usd: state.usage.usd + usd };
    },
    hasQuotaOfBytes: (tenant) => findState(tenant, readMoment(clock)).limit.bytesPerDay !== null,
    refused,
  };
}

function readMoment(clock: Clock): Moment {
  return { steadyMs: clock.monotonic(), wallMs: clock.now() };
}

/** A member that `own` lacks is that of `others`; null is no limit. */
function mergeLimit(own: LimitDefinition, others: LimitDefinition): KeyLimit {
  const of = (name: keyof LimitDefinition): number | null =>
    (own[name] === undefined ? others[name] : own[name]) ?? null;
  const itemsPerSecond = of("items_per_second");
  // The default burst of other limits does not fit a rate of its own.
  const burst = own.burst ?? (own.items_per_second === undefined ? others.burst : null);
  return {
    itemsPerSecond,
    burst: burst ?? Math.max(1, Math.ceil((itemsPerSecond ?? 0) * BURST_SECONDS)),
    itemsPerDay: of("items_per_day"),
    bytesPerDay: of("bytes_per_day"),
    usdPerDay: of("usd_per_day"),
  };
}
