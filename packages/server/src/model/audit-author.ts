// The author of an audit entry.
import type { AuditEntry, AuditVia, Caller } from "./model.ts";

/** Members of an audit entry that identify the author and the origin. A gateway is the channel of all its calls. */
export function nameAuthor(
  { name, origin }: Pick<Caller, "name" | "origin">,
  via?: AuditVia,
): Pick<AuditEntry, "by" | "via" | "origin"> {
  const { via: gateway, ...from } = origin ?? { address: "", userAgent: null };
  const channel = gateway ?? via;
  return {
    by: name,
    ...(channel === undefined ? {} : { via: channel }),
    ...(origin === undefined ? {} : { origin: from }),
  };
}
