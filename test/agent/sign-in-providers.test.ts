// Sign-in at providers of every shape, over a real one on a real socket. Checked: user-info.1 to user-info.3,
// person-claims.4 and role-rules.3 (what a provider sends is read, or the log names the step and what was seen), sign-in.8
// (at most five cookies of attempts), sign-in.9 (the back button, and an expired page of the provider), sign-in.10 (a
// sign-in that fails for want of the user info takes no rights).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  newBrowser,
  startOpenIdProvider,
  type Account,
  type Browser,
  type OpenIdProvider,
  type UserInfoReply,
} from "../harness/sign-in/openid-provider.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";

const ADMIN = "key-of-the-admin-77ae";
const PATHS = ["groups", "realm_access.roles", "resource_access.my.app.roles"] as const;
type Path = (typeof PATHS)[number];

let provider: OpenIdProvider;
const servers = new Map<Path, ServerHere>();
before(async () => {
  provider = await startOpenIdProvider();
  for (const path of PATHS) {
    const env = { HOLDPOINT_ROLES: "platform=admin,finance=reviewer", HOLDPOINT_OIDC_GROUPS_CLAIM: path };
    servers.set(path, await startServerHere({ env: { ...provider.env, ...env, HOLDPOINT_API_KEYS: `root:${ADMIN}` } }));
  }
  provider.allow(...[...servers.values()].map(({ url }) => url));
});
after(async () => {
  for (const one of servers.values()) {
    await one.stop();
    removeFolder(one.dataDir);
  }
  await provider.stop();
});

const findServer = (path: Path): ServerHere => servers.get(path) ?? assert.fail(path);
const readRole = async (browser: Browser, { url }: ServerHere): Promise<string> => {
  const { status, text } = await browser.visit(`${url}/console/api/caller`);
  return status === 200 ? (JSON.parse(text) as { readonly role: string }).role : String(status);
};
const readAttempts = (browser: Browser): readonly string[] =>
  [...browser.cookies.keys()].filter((name) => name.startsWith("holdpoint-sign-in"));

interface Shape {
  readonly name: string;
  readonly path?: Path;
  readonly account: Account;
  /** The reply in place of the provider's user info. */
  readonly userInfo?: (subject: string) => UserInfoReply | Promise<UserInfoReply>;
  /** Role, or reason of the failure. */
  readonly ends: "admin" | "reviewer" | "failed" | "no_role";
  /** Event, and what its entry says. */
  readonly logs?: readonly [event: string, says: RegExp];
}

const inToken = (claims: object, userInfo: object = {}): Account => ({ ...userInfo, id_token: { ...claims } });
const NAMED = { email: "x", email_verified: true };
const jwt = async (claims: object, isForged = false): Promise<UserInfoReply> => ({
  type: "application/jwt",
  body: await provider.sign({ ...claims }, isForged),
});

const SHAPES: readonly Shape[] = [
  { name: "groups in the user info alone", account: { groups: ["platform"] }, ends: "admin" },
  {
    name: "groups in the ID token, user info 500",
    account: inToken({ groups: ["platform"] }),
    userInfo: () => ({ status: 500, body: "oops" }),
    ends: "admin",
    logs: ["sign_in_user_info_unread", /"step":"userinfo".*500/],
  },
  {
    name: "groups in the ID token, user info 403 with HTML",
    account: inToken({ groups: ["platform"] }),
    userInfo: () => ({ status: 403, type: "text/html", body: "<p>no" }),
    ends: "admin",
    logs: ["sign_in_user_info_unread", /403/],
  },
  {
    name: "groups in the ID token, user info a page",
    account: inToken({ groups: ["platform"] }),
    userInfo: () => ({ type: "text/html", body: "<p>sign in" }),
    ends: "admin",
    logs: ["sign_in_user_info_unread", /JSON/],
  },
  {
    name: "groups in a signed user info",
    account: {},
    userInfo: (sub) => jwt({ sub, aud: "holdpoint", iss: provider.issuer, groups: ["platform"] }),
    ends: "admin",
  },
  {
    name: "groups in the ID token, a user info that somebody else signed",
    account: inToken({ groups: ["finance"] }),
    userInfo: (sub) => jwt({ sub, groups: ["platform"] }, true),
    ends: "reviewer",
    logs: ["sign_in_user_info_unread", /signature/],
  },
  {
    name: "groups in the ID token, a user info signed for another client",
    account: inToken({ groups: ["finance"] }),
    userInfo: (sub) => jwt({ sub, aud: "other", groups: ["platform"] }),
    ends: "reviewer",
    logs: ["sign_in_user_info_unread", /another client/],
  },
  {
    name: "a user info without a subject",
    account: inToken({ groups: ["finance"] }),
    userInfo: () => ({ body: JSON.stringify({ groups: ["platform"] }) }),
    ends: "reviewer",
    logs: ["sign_in_user_info_unread", /no sub/],
  },
  ...[false, true].map((isSigned): Shape => ({
    name: `a user info of another subject${isSigned ? ", signed" : ""}`,
    account: inToken({ groups: ["platform"] }),
    userInfo: () => (isSigned ? jwt({ sub: "other" }) : { body: JSON.stringify({ sub: "other" }) }),
    ends: "failed",
    logs: ["sign_in_failed", /"step":"userinfo".*sub of the user info/],
  })),
  {
    name: "no groups in the ID token, user info 500",
    account: inToken({}),
    userInfo: () => ({ status: 500, body: "" }),
    ends: "failed",
    logs: ["sign_in_failed", /"step":"userinfo".*500/],
  },
  { name: "empty groups in the ID token", account: inToken({ groups: [] }, { groups: ["platform"] }), ends: "admin" },
  { name: "empty groups in the user info", account: inToken({ groups: ["platform"] }, { groups: [] }), ends: "admin" },
  {
    name: "empty roles in the ID token's object",
    path: "realm_access.roles",
    account: inToken({ realm_access: { roles: [] } }, { realm_access: { roles: ["platform"] } }),
    ends: "admin",
  },
  { name: "groups as a map", account: inToken({ groups: { platform: { org: "x" }, b: {} } }), ends: "admin" },
  {
    name: "groups as a map of marks",
    account: inToken({ groups: { platform: false, finance: true } }),
    ends: "reviewer",
  },
  { name: "groups as objects", account: inToken({ groups: [{ id: "1", name: "platform" }] }), ends: "admin" },
  { name: "one group as an object", account: inToken({ groups: { id: "1", name: "platform" } }), ends: "admin" },
  { name: "one group as a text", account: inToken({ groups: "platform" }), ends: "admin" },
  {
    name: "Keycloak's roles of a client with a dot in its name",
    path: "resource_access.my.app.roles",
    account: inToken({ resource_access: { "my.app": { roles: ["platform"] } } }),
    ends: "admin",
  },
  { name: "Keycloak's full path", account: inToken({ groups: ["/platform"] }), ends: "admin" },
  {
    name: "Keycloak's full path of a group below another",
    account: inToken({ groups: ["/other/platform"] }),
    ends: "no_role",
    logs: ["sign_in_failed", /\/other\/platform/],
  },
  {
    name: "Entra's overage",
    account: inToken({ _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "https://x" } } }),
    ends: "no_role",
    logs: ["sign_in_groups_unread", /too many groups.*app roles/],
  },
  {
    name: "Entra's overage as a mark",
    account: inToken({ hasgroups: true }),
    ends: "no_role",
    logs: ["sign_in_failed", /too many groups/],
  },
  {
    name: "groups as numbers",
    account: inToken({ groups: [17, "finance"] }),
    ends: "reviewer",
    logs: ["sign_in_groups_unread", /\[17,\\"finance\\"\]/],
  },
  {
    name: "groups under another name",
    account: inToken({ department: "platform" }),
    ends: "no_role",
    logs: ["sign_in_failed", /no claim \\"groups\\"; the claims are .*department/],
  },
];
for (const [index, { name, path = "groups", account, userInfo, ends, logs }] of SHAPES.entries()) {
  test(`${name}: ${ends} (user-info.1 to user-info.3, person-claims.4, role-rules.3)`, async () => {
    const [server, subject] = [findServer(path), `person-${index}`];
    const email = `${subject}@example.com`;
    const { id_token: own, ...rest } = account;
    const isInToken = own !== undefined;
    provider.accounts.set(subject, {
      ...(isInToken ? rest : { ...NAMED, email, ...rest }),
      ...(isInToken ? { id_token: { ...NAMED, email, ...own } } : {}),
    });
    if (userInfo !== undefined) provider.userInfo.set(subject, await userInfo(subject));
    const from = server.logs.length;
    const browser = newBrowser();
    const landed = await browser.signIn(server.url, subject);
    const isIn = ends === "admin" || ends === "reviewer";
    assert.equal(landed.url, `${server.url}/console/inbox${isIn ? "" : `?sign_in_error=${ends}`}`);
    assert.equal(await readRole(browser, server), isIn ? ends : "401");
    if (logs === undefined) return;
    const [event, says] = logs;
    const entries = server.logs.slice(from).filter((entry) => entry["event"] === event);
    assert.match(JSON.stringify(entries), says);
  });
}

test("a user info that fails for a moment takes no rights from older sessions (sign-in.10)", async () => {
  const server = findServer("groups");
  provider.accounts.set("steady", { email: "steady@example.com", groups: ["platform"] });
  const before = newBrowser();
  await before.signIn(server.url, "steady");
  provider.userInfo.set("steady", { status: 503, body: "" });
  assert.match((await newBrowser().signIn(server.url, "steady")).url, /sign_in_error=failed$/);
  assert.equal(await readRole(before, server), "admin");
});

test("forty-two attempts keep five cookies, the newest of all ends, and a success removes them (sign-in.8)", async () => {
  const server = findServer("groups");
  provider.accounts.set("many", { email: "many@example.com", groups: ["platform"] });
  const browser = newBrowser();
  for (let count = 0; count < 42; count++) {
    await browser.visit(`${server.url}/auth/sign-in?return_to=/console/threads?${"x".repeat(600)}`);
    assert.ok(readAttempts(browser).length <= 5);
  }
  assert.equal(readAttempts(browser).length, 5);
  assert.equal((await browser.visit(`${server.url}/console/inbox`)).status, 200);
  const landed = await browser.signIn(server.url, "many", "/console/threads");
  assert.equal(landed.url, `${server.url}/console/threads`);
  assert.deepEqual(readAttempts(browser), []);
});

test("two attempts in one browser end independently (sign-in.8)", async () => {
  const server = findServer("groups");
  provider.accounts.set("two", { email: "two@example.com", groups: ["platform"] });
  const browser = newBrowser();
  const first = await browser.visit(`${server.url}/auth/sign-in?return_to=/console/threads`);
  const second = await browser.visit(`${server.url}/auth/sign-in?return_to=/console/runs`);
  const form = await browser.follow(first.headers.get("location") ?? "");
  const body = new URLSearchParams({ prompt: "login", login: "two", password: "any" });
  const sent = await browser.visit(form.url, { method: "POST", body });
  const landed = await browser.follow(new URL(sent.headers.get("location") ?? "", sent.url).href);
  assert.equal(landed.url, `${server.url}/console/threads`);
  assert.equal((await browser.follow(second.headers.get("location") ?? "")).url, `${server.url}/console/runs`);
});

test("the back button after a sign-in leads to the wanted page (sign-in.9)", async () => {
  const server = findServer("groups");
  provider.accounts.set("back", { email: "back@example.com", groups: ["platform"] });
  const browser = newBrowser();
  await browser.signIn(server.url, "back");
  const begun = await browser.visit(`${server.url}/auth/sign-in?return_to=/console/threads?status=idle`);
  const callback = (await browser.follow(begun.headers.get("location") ?? "", "/auth/callback")).url;
  for (const _ of ["the sign-in", "the page again", "and again"])
    assert.equal((await browser.follow(callback)).url, `${server.url}/console/threads?status=idle`);
  assert.equal(
    (await newBrowser().follow(callback)).url,
    `${server.url}/console/threads?status=idle&sign_in_error=expired`,
  );
});

const EXPIRED: readonly (readonly [error: string, description: string | null])[] = [
  ["temporarily_unavailable", "authentication_expired"],
  ["authentication_expired", null],
];
for (const [error, description] of EXPIRED)
  for (const keeps of ["its attempt", "no cookie"])
    test(`${error} of the provider in a browser with ${keeps} begins again, once (sign-in.9)`, async () => {
      const server = findServer("groups");
      provider.accounts.set("late", { email: "late@example.com", groups: ["platform"] });
      const browser = newBrowser();
      const expire = async (begun: string): Promise<string> => {
        const { headers } = await browser.visit(begun);
        if (keeps === "no cookie") browser.cookies.clear();
        const state = new URL(headers.get("location") ?? "").searchParams.get("state") ?? "";
        const query = new URLSearchParams({ state, error, ...(description && { error_description: description }) });
        return (await browser.visit(`${server.url}/auth/callback?${query.toString()}`)).headers.get("location") ?? "";
      };
      const again = await expire(`${server.url}/auth/sign-in?return_to=/console/threads`);
      assert.match(again, /\/auth\/sign-in\?return_to=%2Fconsole%2Fthreads&again=1$/);
      assert.match(await expire(again), /\/console\/threads\?sign_in_error=(expired|failed)$/);
      const form = await browser.follow(again);
      const body = new URLSearchParams({ prompt: "login", login: "late", password: "any" });
      const sent = await browser.visit(form.url, { method: "POST", body });
      const landed = await browser.follow(new URL(sent.headers.get("location") ?? "", sent.url).href);
      assert.equal(landed.url, `${server.url}/console/threads`);
      const audit = await call(server, "GET", "/people?q=late", undefined, { "x-api-key": ADMIN });
      assert.match(audit.text, /late@example\.com/);
    });
