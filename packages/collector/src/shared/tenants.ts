// Tenants: maps (API key, X-Tenant-Id) to a stable name that does not reveal the key.
import { createHash } from "node:crypto";

const TENANTS_MAX = 10_000;

/**
 * The owner of the data. Only runs with equal `id` share an upload. Created once per request and shared by its spans.
 */
export interface Tenant {
  /** Hash of (API key, X-Tenant-Id). Used as a map key and in the spool. */
  readonly id: string;
  readonly apiKey: string;
  /** X-Tenant-Id of the request, "" for none. */
  readonly tenantId: string;
}

/** 128 bits of a hash: equal for equal keys on every machine, and it does not reveal the key. */
export function hashTenantId(apiKey: string, tenantId: string): string {
  return createHash("sha256").update(`${apiKey}\u0000${tenantId}`).digest("hex").slice(0, 32);
}

export interface Tenants {
  readonly of: (apiKey: string, tenantId: string) => Tenant;
}

/** Returns the same object for the same pair while the cache holds it. */
export function createTenants(): Tenants {
  const known = new Map<string, Tenant>();
  return {
    of(apiKey, tenantId) {
      const name = `${apiKey}\u0000${tenantId}`;
      const tenant = known.get(name) ?? { id: hashTenantId(apiKey, tenantId), apiKey, tenantId };
      if (known.has(name)) return tenant;
      known.set(name, tenant);
      if (known.size > TENANTS_MAX) known.delete(known.keys().next().value ?? "");
      return tenant;
    },
  };
}
