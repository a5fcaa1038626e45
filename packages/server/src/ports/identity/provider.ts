// Identity provider port: the OpenID Connect provider that people sign in with.
import type { JsonObject } from "@holdpoint/base/json/json.ts";

/** One attempt to sign in; its secrets stay in the browser that began it. */
export interface SignInAttempt {
  readonly state: string;
  readonly nonce: string;
  /** PKCE verifier. */
  readonly verifier: string;
}

/** A person, as the provider describes it after all its tokens have been checked. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Claims of the ID token, completed by those of the user info. */
  readonly claims: JsonObject;
  readonly idToken: string;
  /** Why the user info is left out; null if it was read, or if the provider has none. */
  readonly userInfoFault: string | null;
}

/** Where a sign-in failed: the provider's document, the exchange of the code, the ID token or the user info. */
export type SignInStep = "discovery" | "code" | "id_token" | "userinfo";

/** A sign-in that the provider, or a check of its replies, ended. */
export interface SignInRefusal {
  readonly step: SignInStep;
  readonly reason: string;
}

/** A logout at the provider: of one session there, or of all sessions of a person. At least one of both is known. */
export interface ProviderLogout {
  readonly issuer: string;
  readonly subject: string | null;
  /** `sid` */
  readonly providerSession: string | null;
}

export interface IdentityProvider {
  newAttempt(): SignInAttempt;
  /** Address to send the browser to. @throws {Error} if the provider cannot be reached */
  authorizationUrl(attempt: SignInAttempt, redirectUri: string): Promise<string>;
  /**
   * Redeems the code of the callback, once.
   * @param callback the address that the provider sent the browser to, with its query
   * @returns a refusal for a code, state, nonce or token that does not fit
   */
  identify(callback: URL, attempt: SignInAttempt): Promise<Identity | SignInRefusal>;
  /** Address that ends the session at the provider; null if it has none. @param idToken null if it is not known */
  signOutUrl(idToken: string | null, returnTo: string): Promise<string | null>;
  /**
   * Checks the logout token of a back-channel logout: one of the provider for this client, unused and recent.
   * @throws {Error} if the provider's keys cannot be fetched
   */
  loggedOut(token: string): Promise<ProviderLogout | { readonly invalid: string }>;
}
