// Rule match: whether a rule of the sampling applies to a span or a log record, and to its sender.
import type { LogRecord } from "../otlp/log-record.ts";
import type { Span } from "../otlp/span.ts";
import { hashOfKey } from "../shared/key-hash.ts";
import type { Tenant } from "../shared/tenants.ts";
import { isError, type IsFailedRecord } from "./failed-item.ts";
import type { SampleRule } from "./sample-schema.ts";
import { matches } from "./span-match.ts";

export interface OfferedItem {
  readonly item: Span | LogRecord;
  /** Trace of the item, or of the run that it becomes; "" passes at once. */
  readonly traceId: string;
  /** Tenant of the request. */
  readonly tenant: Tenant;
  /** Project from the header of the request. */
  readonly project: string;
}

/** All conditions of the rule hold; its rate is not among them. */
export function applies(
  rule: SampleRule,
  { item, project, tenant }: OfferedItem,
  isFailedRecord: IsFailedRecord,
): boolean {
  if (rule.projects?.includes(project) === false || !isOfSender(rule, tenant)) return false;
  return (rule.error !== true || isError(item, isFailedRecord)) && matches(rule, item);
}

export function isOfSender({ key_sha256, tenants }: SampleRule, tenant: Tenant): boolean {
  if (tenants?.includes(tenant.tenantId) === false) return false;
  return key_sha256 === undefined || key_sha256.includes(findKeyHash(tenant));
}

const keyHashes = new WeakMap<Tenant, string>();

function findKeyHash(tenant: Tenant): string {
  const known = keyHashes.get(tenant) ?? hashOfKey(tenant.apiKey);
  keyHashes.set(tenant, known);
  return known;
}
