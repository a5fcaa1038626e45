import type { AuditEntry, AuditVia, Caller } from "./model.ts";

/** The members of an entry that say who and from where. */
export function authorOf({ name, origin }: Caller, via?: AuditVia): Pick<AuditEntry, "by" | "via" | "origin"> {
  return { by: name, ...(via === undefined ? {} : { via }), ...(origin === undefined ? {} : { origin }) };
}
