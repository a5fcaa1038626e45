// A real OpenID provider on a real socket, and a browser without a screen that signs in there: it keeps cookies, follows
// redirects and fills in the provider's own form.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { Provider } from "oidc-provider";

export interface Account {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
  /** Claims of the ID token. The others are in the user info alone, as this provider has it. */
  readonly id_token?: Readonly<Record<string, unknown>>;
  readonly [claim: string]: unknown;
}

/** A reply in place of the provider's own user info. */
export interface UserInfoReply {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

export interface OpenIdProvider {
  /** Subject → reply, for providers whose user info is another one. */
  readonly userInfo: Map<string, UserInfoReply>;
  /** A JWT with these claims, signed by the provider unless `isForged`. */
  readonly sign: (claims: JWTPayload, isForged?: boolean) => Promise<string>;
  readonly issuer: string;
  /** Settings of a server that signs in here. */
  readonly env: Readonly<Record<string, string>>;
  /** Subject → claims; every password is right. */
  readonly accounts: Map<string, Account>;
  /** A logout token with claims in place of the usual ones, signed by the provider unless `isForged`. */
  readonly logoutToken: (claims: JWTPayload, isForged?: boolean) => Promise<string>;
  /** Registers the server as a client. The first one gets the provider's logouts. */
  readonly allow: (...serverUrls: readonly string[]) => void;
  readonly stop: () => Promise<void>;
}

const CLIENT = { id: "holdpoint", secret: "a-secret-of-the-test-client-4d1c" };

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const accounts = new Map<string, Account>();
  const userInfo = new Map<string, UserInfoReply>();
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const signingKey = { ...(await exportJWK(privateKey)), kid: "test", use: "sig", alg: "RS256" };
  let handle: ReturnType<Provider["callback"]> | null = null;
  const server = createServer((request, response) => {
    if (handle === null) response.writeHead(503).end();
    else void handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign = async (claims: JWTPayload, isForged = false): Promise<string> => {
    const key = isForged ? (await generateKeyPair("RS256")).privateKey : privateKey;
    return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "test" }).sign(key);
  };
  return {
    issuer,
    accounts,
    userInfo,
    sign,
    async logoutToken(claims, isForged = false) {
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: issuer, aud: CLIENT.id, iat: now, exp: now + 120, jti: randomUUID(), events: LOGOUT };
      return sign({ ...usual, ...claims }, isForged);
    },
    env: {
      HOLDPOINT_OIDC_ISSUER: issuer,
      HOLDPOINT_OIDC_CLIENT_ID: CLIENT.id,
      HOLDPOINT_OIDC_CLIENT_SECRET: CLIENT.secret,
    },
    allow(...serverUrls) {
      handle = createProvider({ issuer, accounts, userInfo, signingKey }, serverUrls).callback();
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const LOGOUT = { "http://schemas.openid.net/event/backchannel-logout": {} };

interface ProviderParts {
  readonly issuer: string;
  readonly accounts: Map<string, Account>;
  readonly userInfo: Map<string, UserInfoReply>;
  readonly signingKey: object;
}

function createProvider(
  { issuer, accounts, userInfo, signingKey }: ProviderParts,
  serverUrls: readonly string[],
): Provider {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: serverUrls.map((url) => `${url}/auth/callback`),
        post_logout_redirect_uris: serverUrls.map((url) => `${url}/console/inbox`),
        backchannel_logout_uri: `${serverUrls[0]}/auth/back-channel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    claims: {
      openid: ["sub", "sid", ...SHAPES],
      email: ["email", "email_verified"],
      profile: ["name", "groups", "department"],
    },
    pkce: { required: () => true },
    jwks: { keys: [signingKey] },
    features: { backchannelLogout: { enabled: true } },
    // The provider's own connections refuse addresses of this machine, where the server under test is.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as object),
    cookies: { keys: ["a-key-of-the-test-provider"] },
    async findAccount(_context, id) {
      const claims = accounts.get(id);
      if (claims === undefined) return undefined;
      const { id_token: own = {}, ...rest } = claims;
      return { accountId: id, claims: async (use) => ({ sub: id, ...(use === "id_token" ? own : rest) }) };
    },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? "",
        accountId: oidc.session?.accountId ?? "",
      });
      grant.addOIDCScope("openid profile email"); // consent is not what is tested
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    await next();
    const reply = context.path === "/me" ? userInfo.get(context.oidc?.account?.accountId ?? "") : undefined;
    if (reply === undefined) return;
    context.status = reply.status ?? 200;
    context.type = reply.type ?? "application/json";
    context.body = reply.body;
  });
  return provider;
}

/** Claims that some provider puts into its ID token. */
const SHAPES =
  "email email_verified preferred_username groups department realm_access resource_access _claim_names _claim_sources hasgroups".split(
    " ",
  );

export interface Visit {
  readonly status: number;
  readonly url: string;
  readonly text: string;
  readonly headers: Headers;
}

/** Cookies belong to the host, as in a browser, whatever the port. */
export interface Browser {
  readonly cookies: Map<string, string>;
  /** One request, without following its redirect. */
  visit(url: string, init?: RequestInit): Promise<Visit>;
  /** Follows redirects up to a page, or up to a redirect to an address with `until` in it. */
  follow(url: string, until?: string): Promise<Visit>;
  /** Signs in at the provider; ends on the page of the server. */
  signIn(serverUrl: string, subject: string, returnTo?: string): Promise<Visit>;
}

const REDIRECTS_MAX = 20;

export function newBrowser(): Browser {
  const cookies = new Map<string, string>();
  const visit: Browser["visit"] = async (url, init = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = new Headers(init.headers);
    if (cookie !== "") headers.set("cookie", cookie);
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const one of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      if (value === "" || /max-age=0\b|expires=thu, 01 jan 1970/i.test(one)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, url, text: await response.text(), headers: response.headers };
  };
  const follow: Browser["follow"] = async (url, until) => {
    let seen = await visit(url);
    for (let count = 0; count < REDIRECTS_MAX && seen.status >= 300 && seen.status < 400; count++) {
      const next = new URL(seen.headers.get("location") ?? "", seen.url).href;
      if (until !== undefined && next.includes(until)) return { ...seen, url: next };
      seen = await visit(next);
    }
    return seen;
  };
  return {
    cookies,
    visit,
    follow,
    async signIn(serverUrl, subject, returnTo) {
      const query = returnTo === undefined ? "" : `?return_to=${encodeURIComponent(returnTo)}`;
      const form = await follow(`${serverUrl}/auth/sign-in${query}`);
      if (!form.url.includes("/interaction/")) return form; // the provider still has a session
      const body = new URLSearchParams({ prompt: "login", login: subject, password: "any" });
      const sent = await visit(form.url, { method: "POST", body });
      return follow(new URL(sent.headers.get("location") ?? "", sent.url).href);
    },
  };
}
