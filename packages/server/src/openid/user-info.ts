// User info: what the provider adds to an ID token, as JSON or as a JWT that it signs.
// Invariants:
//   user-info.1. A reply about another subject ends the sign-in, signed or not. Any other fault only leaves the reply
//        out: the ID token is checked, and may have what is needed.
//   user-info.2. Claims of a JWT count only with a signature of the provider, for this client where it names one.
//   user-info.3. A claim that is empty in one source does not hide that of the other; else the ID token decides.
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { type Configuration, fetchProtectedResource } from "openid-client";
import { describeError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export interface UserInfo {
  readonly claims: JsonObject;
  /** Why the reply is left out; null if it was read, or if the provider has none. */
  readonly fault: string | null;
}

const BYTES_MAX = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** The reply is about somebody else. */
export class WrongSubject extends Error {}

/** @throws {WrongSubject} user-info.1 */
export async function readUserInfo(config: Configuration, accessToken: string, subject: string): Promise<UserInfo> {
  const { userinfo_endpoint: endpoint } = config.serverMetadata();
  if (endpoint === undefined) return { claims: {}, fault: null };
  try {
    const headers = new Headers({ accept: "application/json, application/jwt" });
    const reply = await fetchProtectedResource(config, accessToken, new URL(endpoint), "GET", null, headers);
    const type = reply.headers.get("content-type") ?? "no content type";
    if (reply.status !== 200) {
      await reply.body?.cancel();
      return { claims: {}, fault: `the user info replied ${reply.status}` };
    }
    const text = await readBounded(reply);
    const claims = /\bjwt\b/i.test(type) ? await verify(config, text.trim(), subject) : (JSON.parse(text) as Json);
    if (!isJsonObject(claims)) return { claims: {}, fault: `the user info is no object (${type})` };
    const fault = findSubjectFault(claims["sub"], subject);
    return fault === null ? { claims, fault } : { claims: {}, fault };
  } catch (error) {
    if (error instanceof WrongSubject) throw error;
    return { claims: {}, fault: describeError(error).message };
  }
}

/** user-info.2. @throws {WrongSubject} before the signature is looked at */
async function verify(config: Configuration, token: string, subject: string): Promise<JsonObject> {
  findSubjectFault(decodeJwt(token).sub, subject);
  const { jwks_uri: keys, issuer } = config.serverMetadata();
  if (keys === undefined) throw new Error("the provider's document names no jwks_uri");
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(keys), { timeoutDuration: TIMEOUT_MS }), {
    clockTolerance: 30,
  });
  const { iss, aud } = payload;
  if (iss !== undefined && iss !== issuer) throw new Error("the user info is of another issuer");
  const clients = aud === undefined ? null : [aud].flat();
  if (clients?.includes(config.clientMetadata().client_id) === false)
    throw new Error("the user info is for another client");
  return payload as JsonObject;
}

/** A reply without a subject is about nobody. @throws {WrongSubject} */
function findSubjectFault(given: Json | undefined, subject: string): string | null {
  if (given === subject) return null;
  if (given === undefined || given === null) return "the user info has no sub";
  throw new WrongSubject("the sub of the user info is not that of the ID token");
}

async function readBounded(reply: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply.body ?? []) {
    size += chunk.length;
    if (size > BYTES_MAX) throw new Error(`the user info is longer than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** user-info.3, in objects too: `realm_access` may have roles in one source and nothing in the other. */
export function mergeClaims(idToken: JsonObject, userInfo: JsonObject): JsonObject {
  const merged = Object.entries(idToken).map(([name, own]): [string, Json] => {
    const other = Object.hasOwn(userInfo, name) ? userInfo[name] : undefined;
    if (other === undefined) return [name, own];
    if (isJsonObject(own) && isJsonObject(other)) return [name, mergeClaims(own, other)];
    return [name, isEmpty(own) ? other : own];
  });
  return { ...userInfo, ...Object.fromEntries(merged) };
}

function isEmpty(value: Json): boolean {
  if (value === null || value === "") return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}
