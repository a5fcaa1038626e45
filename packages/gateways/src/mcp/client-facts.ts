// Client facts: the capabilities that a client declared at the start. A session id carries the facts, so that any
// process serves any request of the session, also after a restart.
// Invariants:
//   - The facts grant no rights: a forged session id changes only how the client is asked.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { type Elicits, readElicits, ELICITS_NOTHING } from "./elicitation.ts";

export interface ClientFacts {
  readonly elicits: Elicits;
}

const PREFIX = "hp1.";
const UNITS_MAX = 2048;

/** @param newId makes the ids of two sessions differ */
export function encodeSessionId(capabilities: Json, newId: () => string): string {
  const elicitation = isJsonObject(capabilities) ? capabilities["elicitation"] : undefined;
  const { form, url } = readElicits(elicitation ?? null);
  return PREFIX + Buffer.from(JSON.stringify({ id: newId(), form, url })).toString("base64url");
}

/** A missing or foreign session id yields a client that asks nothing. */
export function parseFacts(sessionId: string | null): ClientFacts {
  const facts = parseSession(sessionId);
  return { elicits: facts === null ? ELICITS_NOTHING : { form: facts["form"] === true, url: facts["url"] === true } };
}

function parseSession(sessionId: string | null): JsonObject | null {
  if (sessionId === null || !sessionId.startsWith(PREFIX) || sessionId.length > UNITS_MAX) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(sessionId.slice(PREFIX.length), "base64url").toString());
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
