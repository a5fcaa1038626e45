import type { AuditEntry, AuditVia, Caller } from "./model.ts";

/** Members of an audit entry that identify the author and the origin. */
export function authorOf({ name, origin }: Caller, via?: AuditVia): Pick<AuditEntry, "by" | "via" | "origin"> {
  return { by: name, ...(via === undefined ? {} : { via }), ...(origin === undefined ? {} : { origin }) };
}
