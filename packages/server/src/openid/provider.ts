// Identity provider: the adapter of the port on OpenID Connect: code flow with PKCE, state and nonce.
// Invariants:
//   - The provider's document is fetched at the first sign-in, not at the start: a provider that is down delays no
//     agent. A failure is not kept.
//   - Plain http is for a provider on this machine only.
//   - Every claim comes from a checked ID token, or from the user info of the same subject.
//   - The secret goes where the provider's document says that it takes it.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  discovery,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Identity, IdentityProvider, SignInRefusal, SignInStep } from "../ports/ports.ts";
import { createLogoutTokens } from "./logout-token.ts";
import { mergeClaims, readUserInfo } from "./user-info.ts";

export interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
  readonly scopes: string;
}

const TIMEOUT_S = 10;
const KEPT_MS = 60 * 60 * 1000;

export function createIdentityProvider(options: ProviderOptions, monotonic: () => number): IdentityProvider {
  let known: { readonly config: Promise<Configuration>; readonly at: number } | null = null;
  const configuration = (): Promise<Configuration> => {
    if (known !== null && monotonic() - known.at < KEPT_MS) return known.config;
    const config = discover(options);
    const entry = { config, at: monotonic() };
    known = entry;
    config.catch(() => {
      if (known === entry) known = null;
    });
    return config;
  };
  const logoutTokens = createLogoutTokens(options.clientId, monotonic);
  return {
    newAttempt: () => ({ state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }),
    async authorizationUrl({ state, nonce, verifier }, redirectUri) {
      const challenge = await calculatePKCECodeChallenge(verifier);
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: options.scopes,
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: "S256",
      });
      return url.href;
    },
    async identify(callback, { state, nonce, verifier }) {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      try {
        return await readIdentity(await configuration().catch(refuseAt("discovery")), callback, checks);
      } catch (error) {
        if (error instanceof Refused) return error.refusal;
        throw error;
      }
    },
    async signOutUrl(idToken, returnTo) {
      const config = await configuration();
      if (config.serverMetadata().end_session_endpoint === undefined) return null;
      const hint = idToken === null ? {} : { id_token_hint: idToken };
      return buildEndSessionUrl(config, { ...hint, post_logout_redirect_uri: returnTo }).href;
    },
    loggedOut: async (token) => logoutTokens.read(token, (await configuration()).serverMetadata()),
  };
}

function discover({ issuer, clientId, clientSecret }: ProviderOptions): Promise<Configuration> {
  const url = new URL(issuer);
  const auth = clientSecret === null ? None() : authenticate(clientSecret);
  const execute = url.protocol === "http:" ? [allowInsecureRequests] : []; // the setting checks the host
  return discovery(url, clientId, clientSecret ?? undefined, auth, { execute, timeout: TIMEOUT_S });
}

function authenticate(secret: string): ClientAuth {
  const [post, basic] = [ClientSecretPost(secret), ClientSecretBasic(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const onlyBasic = methods?.includes("client_secret_post") === false && methods.includes("client_secret_basic");
    return (onlyBasic ? basic : post)(server, ...rest);
  };
}

class Refused extends Error {
  readonly refusal: SignInRefusal;
  constructor(refusal: SignInRefusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}

function refuseAt(step: SignInStep): (error: unknown) => never {
  return (error) => {
    throw new Refused({ step, reason: formatReason(error) });
  };
}

/** @throws {Refused} */
async function readIdentity(
  config: Configuration,
  callback: URL,
  checks: Parameters<typeof authorizationCodeGrant>[2],
): Promise<Identity> {
  const tokens = await authorizationCodeGrant(config, callback, checks).catch((error: unknown) =>
    refuseAt(isAboutToken(error) ? "id_token" : "code")(error),
  );
  const claims = tokens.claims();
  if (claims === undefined || tokens.id_token === undefined)
    throw new Refused({ step: "id_token", reason: "the reply has no ID token" });
  const { iss: issuer, sub: subject } = claims;
  const more = await readUserInfo(config, tokens.access_token, subject).catch(refuseAt("userinfo"));
  return {
    issuer,
    subject,
    claims: mergeClaims(claims as JsonObject, more.claims),
    idToken: tokens.id_token,
    userInfoFault: more.fault,
  };
}

/** The library's errors about a JWT say so in code or text; the others are about the callback and the exchange. */
function isAboutToken(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return /JWT|ID Token|id_token|signature/i.test(`${String(code)} ${String(message)}`);
}

/** Errors of the library carry the provider's own code as their cause. */
function formatReason(error: unknown): string {
  const { message } = describeError(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${message}${cause}`.slice(0, 500);
}
