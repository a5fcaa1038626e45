// Tenants: (API key, X-Tenant-Id) → a name that can be shown, and back.
import { createHash } from "node:crypto";
import type { Tenant } from "./trace-run.ts";

const TENANTS_MAX = 10_000;

/** 128 bits of a hash: equal for equal keys on every machine, and it tells nothing about the key. */
export function tenantIdOf(apiKey: string, tenantId: string): string {
  return createHash("sha256").update(`${apiKey}\u0000${tenantId}`).digest("hex").slice(0, 32);
}

export interface Tenants {
  readonly of: (apiKey: string, tenantId: string) => Tenant;
}

/** The same object for the same pair, while it is remembered. */
export function createTenants(): Tenants {
  const known = new Map<string, Tenant>();
  return {
    of(apiKey, tenantId) {
      const name = `${apiKey}\u0000${tenantId}`;
      const tenant = known.get(name) ?? { id: tenantIdOf(apiKey, tenantId), apiKey, tenantId };
      if (known.has(name)) return tenant;
      known.set(name, tenant);
      if (known.size > TENANTS_MAX) known.delete(known.keys().next().value ?? "");
      return tenant;
    },
  };
}
