// The origin of a request.
import type { Origin } from "../model/model.ts";
import type { AccessRequest } from "../ports/ports.ts";

const USER_AGENT_UNITS_MAX = 256;

/** Where a request comes from, for the audit trail. */
export function readOrigin({ remoteAddress = "", headers, via }: Omit<AccessRequest, "method" | "url">): Origin {
  const agent = headers["user-agent"];
  const userAgent = typeof agent === "string" ? agent.slice(0, USER_AGENT_UNITS_MAX) : null;
  return { address: remoteAddress, userAgent, ...(via === undefined ? {} : { via }) };
}
