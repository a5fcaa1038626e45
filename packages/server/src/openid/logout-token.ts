// Logout token: the provider's word that a session there has ended (OpenID Connect Back-Channel Logout 1.0).
// Invariants:
//   - A token counts only with a signature of the provider, for this client, recent, with the event of a logout, and
//     without a nonce: an ID token is none.
//   - A token counts once. Ids are kept while a token could still be valid, and at most IDS_MAX of them.
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from "jose";
import type { ProviderLogout } from "../ports/ports.ts";

/** The members of the provider's metadata that a logout needs. */
interface Metadata {
  readonly issuer: string;
  readonly jwks_uri?: string;
}

export interface LogoutTokens {
  /** @throws {Error} if the provider's keys cannot be fetched */
  read(token: string, metadata: Metadata): Promise<ProviderLogout | { readonly invalid: string }>;
}

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const AGE_S = 5 * 60;
const TOLERANCE_S = 30;
const IDS_MAX = 10_000;
const TIMEOUT_MS = 10_000;
/** Faults of the token; every other error is one of the provider. */
const FAULTS = [
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JWTInvalid,
  errors.JWTClaimValidationFailed,
  errors.JWTExpired,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
];

export function createLogoutTokens(clientId: string, monotonic: () => number): LogoutTokens {
  let keys: { readonly uri: string; readonly get: JWTVerifyGetKey } | null = null;
  const fetchKeys = (uri: string): JWTVerifyGetKey => {
    if (keys?.uri !== uri) keys = { uri, get: createRemoteJWKSet(new URL(uri), { timeoutDuration: TIMEOUT_MS }) };
    return keys.get;
  };
  const seen = new Map<string, number>();
  const isNew = (tokenId: string): boolean => {
    const now = monotonic();
    for (const [id, until] of seen) {
      if (until > now && seen.size < IDS_MAX) break;
      seen.delete(id);
    }
    if (seen.has(tokenId)) return false;
    seen.set(tokenId, now + (AGE_S + 2 * TOLERANCE_S) * 1000);
    return true;
  };
  return {
    async read(token, { issuer, jwks_uri: uri }) {
      if (uri === undefined) throw new Error("the provider's document names no jwks_uri");
      const checks = { issuer, audience: clientId, maxTokenAge: AGE_S, clockTolerance: TOLERANCE_S };
      try {
        const { payload } = await jwtVerify(token, fetchKeys(uri), checks);
        const fault = findFault(payload) ?? (isNew(payload.jti ?? "") ? null : "the token was used before");
        return fault === null ? readLogout(issuer, payload) : { invalid: fault };
      } catch (error) {
        if (error instanceof Error && FAULTS.some((fault) => error instanceof fault)) return { invalid: error.message };
        throw error;
      }
    },
  };
}

/** Beyond signature, issuer, audience and age. */
function findFault({ events, nonce, jti, sub, sid }: JWTPayload): string | null {
  if (typeof events !== "object" || events === null || !Object.hasOwn(events, EVENT)) return "no logout event";
  if (nonce !== undefined) return "a logout token has no nonce";
  if (typeof jti !== "string" || jti === "") return "no jti";
  if (typeof sub !== "string" && typeof sid !== "string") return "neither sub nor sid";
  return null;
}

function readLogout(issuer: string, { sub, sid }: JWTPayload): ProviderLogout {
  return { issuer, subject: sub ?? null, providerSession: typeof sid === "string" ? sid : null };
}
