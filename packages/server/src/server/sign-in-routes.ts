// Sign-in routes: the browser's way to the provider, back, and out. Replies are redirects, because a person follows
// them.
//   GET  /auth/sign-in?return_to=/console/inbox
//   GET  /auth/callback       from the provider
//   POST /auth/sign-out       → {"url": where to go next}
//   POST /auth/back-channel-logout   from the provider: logout_token=…
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { beginSignIn, endSignIn, safeReturn, type SignInFailure, type SignInPorts } from "../auth/sign-in.ts";
import { json } from "../routes/route.ts";

const PATHS = {
  signIn: "/auth/sign-in",
  callback: "/auth/callback",
  signOut: "/auth/sign-out",
  backChannel: "/auth/back-channel-logout",
} as const;
const LOGOUT_TOKEN_UNITS_MAX = 16_384;

/** @param publicUrl address of the server as people reach it, with its prefix */
export function signInRoutes(ports: SignInPorts, publicUrl: () => string): readonly HttpRoute[] {
  const console = (): string => `${publicUrl()}/console/inbox`;
  const callback = (): string => `${publicUrl()}${PATHS.callback}`;
  /** The console says why, on the wanted page if that is one of its own. */
  const failed = (failure: SignInFailure, page: string | null, cookies: readonly string[] = []): HttpReply => {
    const own = new URL(console());
    const wanted = new URL(safeReturn(page, own.href, own.pathname), own);
    const shown = wanted.pathname.startsWith(new URL(".", own).pathname) ? wanted : own;
    shown.searchParams.set("sign_in_error", failure);
    return redirect(shown.href, cookies);
  };
  return [
    {
      method: "get",
      path: PATHS.signIn,
      async handle(request) {
        const { query, headers } = request;
        const own = publicUrl();
        const returnTo = safeReturn(query["return_to"], own, new URL(console()).pathname);
        // The cookies of an attempt belong to one host: the one that the provider sends the browser back to.
        if (headers.host !== new URL(own).host && query["at"] === undefined)
          return redirect(
            `${own}${PATHS.signIn}?${new URLSearchParams({ return_to: returnTo, at: "host" }).toString()}`,
          );
        try {
          const isSecond = query["again"] !== undefined;
          const { url, cookie } = await beginSignIn(ports, request, { redirectUri: callback(), returnTo, isSecond });
          return redirect(url, [cookie]);
        } catch (error) {
          ports.log.warning("sign_in_failed", {
            failure: "unreachable",
            step: "discovery",
            reason: describeError(error).message,
          });
          return failed("unreachable", returnTo);
        }
      },
    },
    {
      method: "get",
      path: PATHS.callback,
      async handle(request) {
        const url = new URL(callback());
        url.search = new URL(request.url, url).search;
        const { failure, returnTo, again, cookies } = await endSignIn(ports, request, url);
        const own = publicUrl();
        const wanted = new URL(safeReturn(returnTo, own, new URL(console()).pathname), own);
        if (failure === null) return redirect(wanted.href, cookies);
        const isOver = failure === "expired";
        if (isOver && (await isSignedIn(ports, request))) return redirect(wanted.href, cookies); // the back button
        if (isOver && again) {
          const query = new URLSearchParams({ return_to: `${wanted.pathname}${wanted.search}`, again: "1" });
          return redirect(`${own}${PATHS.signIn}?${query.toString()}`, cookies);
        }
        return failed(failure, returnTo, cookies);
      },
    },
    { method: "post", path: PATHS.signOut, handle: (request) => signOut(ports, request, console()) },
    { method: "post", path: PATHS.backChannel, handle: (request) => signOutByProvider(ports, request) },
  ];
}

function isSignedIn({ sessions }: SignInPorts, request: HttpRequest): Promise<boolean> {
  return sessions.source(request).then(
    (caller) => caller !== null,
    () => false,
  );
}

/** Replies as OpenID Connect Back-Channel Logout 1.0 defines them. */
async function signOutByProvider({ sessions, provider, log }: SignInPorts, request: HttpRequest): Promise<HttpReply> {
  const invalid = (reason: string): HttpReply => {
    log.warning("provider_logout_refused", { reason });
    const body = JSON.stringify({ error: "invalid_request", error_description: reason });
    return { status: 400, body, headers: NO_STORE };
  };
  const token = new URLSearchParams(await request.readForm()).get("logout_token") ?? "";
  if (token === "" || token.length > LOGOUT_TOKEN_UNITS_MAX) return invalid("no logout_token of a usual size");
  let logout: Awaited<ReturnType<typeof provider.loggedOut>>;
  try {
    logout = await provider.loggedOut(token);
  } catch (error) {
    log.warning("provider_logout_unchecked", { reason: describeError(error).message });
    throw new ApiError("provider_unreachable", "The keys of the provider cannot be fetched: send the token again.");
  }
  if ("invalid" in logout) return invalid(logout.invalid);
  log.info("signed_out_by_provider", { sessions: await sessions.endAtProvider(logout) });
  return { status: 200, body: null, headers: NO_STORE };
}

async function signOut(
  { sessions, provider, log }: SignInPorts,
  request: HttpRequest,
  next: string,
): Promise<HttpReply> {
  const { session, cookie } = await sessions.end(request);
  if (session === null) throw new ApiError("unauthenticated", "No person is signed in.", {}, { "Set-Cookie": cookie });
  log.info("signed_out", { name: session.person });
  // A provider that cannot be reached keeps its own session; the one here has ended.
  const there = await provider.signOutUrl(session.idToken, next).catch(() => null);
  return json({ url: there ?? next }, { "Set-Cookie": cookie, ...NO_STORE });
}

const NO_STORE = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

function redirect(url: string, cookies: readonly string[] = []): HttpReply {
  return { status: 303, body: null, headers: { Location: url, "Set-Cookie": [...cookies], ...NO_STORE } };
}
