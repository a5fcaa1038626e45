// Identity provider: the adapter of the port on OpenID Connect: code flow with PKCE, state and nonce.
// Invariants:
//   openid/provider.1. The provider's document is fetched at the first sign-in, not at the start: a provider that is down
//        delays no agent. A failure is not kept.
//   openid/provider.2. Plain http is for a provider on this machine only.
//   openid/provider.3. Every claim comes from a checked ID token, or from the user info of the same subject.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import type { Identity, IdentityProvider } from "../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { createLogoutTokens } from "./logout-token.ts";

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
      if (known === entry) known = null; // openid/provider.1
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
      return readIdentity(await configuration(), callback, checks);
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
  const auth = clientSecret === null ? None() : undefined;
  const execute = url.protocol === "http:" ? [allowInsecureRequests] : []; // openid/provider.2: the setting checks the host
  return discovery(url, clientId, clientSecret ?? undefined, auth, { execute, timeout: TIMEOUT_S });
}

async function readIdentity(
  config: Configuration,
  callback: URL,
  checks: Parameters<typeof authorizationCodeGrant>[2],
): Promise<Identity> {
  const tokens = await authorizationCodeGrant(config, callback, checks);
  const claims = tokens.claims();
  if (claims === undefined || tokens.id_token === undefined) throw new Error("the reply has no ID token");
  const { iss: issuer, sub: subject } = claims;
  const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
  const more = hasUserInfo ? await fetchUserInfo(config, tokens.access_token, subject) : {}; // openid/provider.3
  return { issuer, subject, claims: { ...more, ...claims } as JsonObject, idToken: tokens.id_token };
}
