// Sign-in with a real OpenID provider over real sockets, and attacks on it. Checked:
//   sign-in-flow.1. A person signs in, has the role of a group, and stays in the directory with address and groups.
//   sign-in-flow.2. An attempt ends once, in the browser that began it: state, code and cookies of another are worth
//        nothing.
//   sign-in-flow.3. After the sign-out, the removal of the person and the loss of every group, the cookie is worth
//        nothing; on every server.
//   sign-in-flow.4. Pages of other sites change nothing in the name of somebody who is signed in.
//   sign-in-flow.5. The page after the sign-in is one of this server.
//   sign-in-flow.7. A logout at the provider ends the session here, and only a logout token of the provider does.
//   sign-in-flow.8. A stream ends with the session or key that opened it.
//   sign-in-flow.9. The database has no ID token in clear.
//   sign-in-flow.10. Each person reads and replaces the own state of the console, and nobody else's.
//   sign-in-flow.6. Incomplete or contradictory settings prevent the start, each by name.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  newBrowser,
  startOpenIdProvider,
  type Browser,
  type OpenIdProvider,
} from "../harness/sign-in/openid-provider.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { NotStarted, startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";

const ADMIN = "key-of-the-admin-77ae";
const ROLES = JSON.stringify([
  { group: "platform", role: "admin" },
  { group: "finance", role: "reviewer", metadata: { region: ["eu"] } },
  { claim: "department", value: "support", role: "operator" },
  { claim: "email", value: "boss@example.com", role: "admin" },
]);

let provider: OpenIdProvider;
let server: ServerHere;
before(async () => {
  provider = await startOpenIdProvider();
  server = await startServerHere({
    env: { ...provider.env, HOLDPOINT_ROLES: ROLES, HOLDPOINT_API_KEYS: `root:${ADMIN}` },
  });
  SESSION = sessionOn(server);
  provider.allow(server.url);
  const person = (name: string, more: object) =>
    provider.accounts.set(name, {
      email: `${name}@example.com`,
      email_verified: true,
      name: `${name} Example`,
      ...more,
    });
  person("ann", { groups: ["platform", "all"] });
  person("fin", { groups: ["finance"] });
  person("sue", { department: "support" });
  person("nobody", { groups: ["guests"] });
});
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  await provider.stop();
});

interface CallerObject {
  readonly name: string;
  readonly role: string;
  readonly email: string;
  readonly groups: readonly string[];
  readonly signed_in: boolean;
}

const sessionOn = ({ url }: Pick<ServerHere, "url">): string => `holdpoint-session-${new URL(url).port}`;
let SESSION = "";
const json = (path: string): string => `${server.url}${path}`;
const readCaller = async (browser: Browser, on = server): Promise<{ status: number; caller: CallerObject }> => {
  const { status, text } = await browser.visit(`${on.url}/console/api/caller`);
  return { status, caller: JSON.parse(text) as CallerObject };
};
const signedIn = async (subject: string): Promise<Browser> => {
  const browser = newBrowser();
  await browser.signIn(server.url, subject);
  assert.equal((await readCaller(browser)).status, 200);
  return browser;
};
const post = (browser: Browser, path: string, headers: Readonly<Record<string, string>>, body: unknown = {}) =>
  browser.visit(json(path), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };

test("a person signs in with PKCE, state and nonce, and has name, address, groups and role (sign-in-flow.1)", async () => {
  const browser = newBrowser();
  const refused = await browser.visit(json("/console/api/caller"));
  assert.equal(refused.status, 401);
  assert.match(refused.text, /"sign_in":"\/auth\/sign-in"/);

  const begun = await browser.visit(json("/auth/sign-in?return_to=/console/threads"));
  const asked = new URL(begun.headers.get("location") ?? "").searchParams;
  assert.equal(asked.get("code_challenge_method"), "S256");
  for (const name of ["code_challenge", "state", "nonce"]) assert.ok((asked.get(name) ?? "").length > 20, name);
  assert.equal(asked.get("redirect_uri"), json("/auth/callback"));

  const landed = await browser.signIn(server.url, "ann", "/console/threads?status=idle");
  assert.equal(landed.url, json("/console/threads?status=idle"));
  const { caller } = await readCaller(browser);
  assert.deepEqual(
    [caller.name, caller.role, caller.email, caller.groups, caller.signed_in],
    ["ann@example.com", "admin", "ann@example.com", ["platform", "all"], true],
  );
  const people = await call(server, "GET", "/people?group=platform", undefined, { "x-api-key": ADMIN });
  assert.match(people.text, /"name":"ann@example.com","display_name":"ann Example","email":"ann@example.com"/);
});

test("cookies are httpOnly and SameSite=Lax; the token is new, and neither in a URL nor in the logs (sign-in-flow.1)", async () => {
  const browser = await signedIn("ann");
  const token = browser.cookies.get(SESSION) ?? "";
  assert.match(token, /^[\w-]{43}$/);
  assert.ok(!server.output().includes(token));
  assert.ok(
    [...browser.cookies.keys()].every((name) => !name.startsWith("holdpoint-sign-in")),
    "the attempt is over",
  );
  const begun = await newBrowser().visit(json("/auth/sign-in"));
  assert.match(begun.headers.get("set-cookie") ?? "", /; Path=\/; HttpOnly; SameSite=Lax/);
  await browser.signIn(server.url, "ann");
  assert.notEqual(browser.cookies.get(SESSION), token);
});

test("graphs and the audit trail see the person (sign-in-flow.1)", async () => {
  const browser = await signedIn("sue");
  const made = await post(browser, "/threads", SAME_ORIGIN, {});
  const { thread_id: id } = JSON.parse(made.text) as { readonly thread_id: string };
  const run = await post(browser, `/threads/${id}/runs/wait`, SAME_ORIGIN, {
    assistant_id: "agent",
    input: { some_text: "x" },
  });
  assert.equal(run.status, 200, run.text);
  const stored = await browser.visit(json(`/threads/${id}/runs`));
  assert.equal(stored.status, 200);
  const item = JSON.parse((await browser.visit(json(`/inbox?thread_id=${id}`))).text) as {
    readonly items: readonly { readonly id: string }[];
  };
  const answers = [{ thread_id: id, interrupt_id: item.items[0]?.id, resume: "fine" }];
  const answered = await post(browser, "/inbox/answers", SAME_ORIGIN, answers);
  assert.match(answered.text, /"status":"answered"/);
  const audit = await browser.visit(json(`/threads/${id}/audit`));
  assert.match(audit.text, /"by":"sue@example.com"/);
});

test("somebody without a role gets no session and no place in the directory (sign-in-flow.1)", async () => {
  const browser = newBrowser();
  const landed = await browser.signIn(server.url, "nobody");
  assert.match(landed.url, /\/console\/inbox\?sign_in_error=no_role$/);
  assert.equal(browser.cookies.has(SESSION), false);
  const people = await call(server, "GET", "/people", undefined, { "x-api-key": ADMIN });
  assert.ok(!people.text.includes("nobody@"));
});

test("an unverified address is no name, no address, and fits no rule (sign-in-flow.1)", async () => {
  provider.accounts.set("thief", { email: "boss@example.com", email_verified: false, groups: ["finance"] });
  const { caller } = await readCaller(await signedIn("thief"));
  assert.deepEqual([caller.name, caller.role, caller.email], ["thief", "reviewer", null]);
});

test("a second subject with a name that is taken is refused (sign-in-flow.1)", async () => {
  await signedIn("ann");
  provider.accounts.set("ann2", { email: "ann@example.com", email_verified: true, groups: ["platform"] });
  const browser = newBrowser();
  assert.match((await browser.signIn(server.url, "ann2")).url, /sign_in_error=name_taken$/);
  assert.equal(browser.cookies.has(SESSION), false);
});

/** The callback that the provider sends a browser to, not yet followed. */
async function reachCallback(browser: Browser, subject: string): Promise<URL> {
  const form = await browser.follow(json("/auth/sign-in"));
  const body = new URLSearchParams({ prompt: "login", login: subject, password: "any" });
  const sent = await browser.visit(form.url, { method: "POST", body });
  const next = new URL(sent.headers.get("location") ?? "", sent.url).href;
  return new URL((await browser.follow(next, "/auth/callback")).url);
}

const ATTACKS: readonly (readonly [
  name: string,
  attack: (victim: Browser, callback: URL) => Promise<[Browser, URL]>,
])[] = [
  ["a callback in a browser that did not begin the attempt", async (_victim, callback) => [newBrowser(), callback]],
  [
    "a callback with another state",
    async (victim, callback) => {
      callback.searchParams.set("state", "A".repeat(43));
      return [victim, callback];
    },
  ],
  [
    "a callback without a state",
    async (victim, callback) => {
      callback.searchParams.delete("state");
      return [victim, callback];
    },
  ],
  [
    "a code of another attempt of the same browser",
    async (victim, callback) => {
      const other = await reachCallback(newBrowser(), "fin");
      callback.searchParams.set("code", other.searchParams.get("code") ?? "");
      return [victim, callback];
    },
  ],
  [
    "an attempt whose cookie was changed",
    async (victim, callback) => {
      for (const [name, value] of victim.cookies) {
        if (!name.startsWith("holdpoint-sign-in")) continue;
        const attempt = JSON.parse(Buffer.from(value, "base64url").toString()) as Record<string, unknown>;
        const changed = { ...attempt, nonce: "another" };
        victim.cookies.set(name, Buffer.from(JSON.stringify(changed)).toString("base64url"));
      }
      return [victim, callback];
    },
  ],
  [
    "a callback of another issuer",
    async (victim, callback) => {
      callback.searchParams.set("iss", "https://evil.example");
      return [victim, callback];
    },
  ],
  [
    "an error of the provider",
    async (victim, callback) => {
      callback.searchParams.delete("code");
      callback.searchParams.set("error", "access_denied");
      return [victim, callback];
    },
  ],
];
for (const [name, attack] of ATTACKS) {
  test(`${name} signs nobody in (sign-in-flow.2)`, async () => {
    const victim = newBrowser();
    const [browser, callback] = await attack(victim, await reachCallback(victim, "ann"));
    const { status, headers } = await browser.visit(callback.href);
    assert.equal(status, 303);
    assert.match(headers.get("location") ?? "", /\/console\/inbox\?sign_in_error=(expired|failed|denied)$/);
    assert.equal(browser.cookies.has(SESSION), false);
    assert.equal((await readCaller(browser)).status, 401);
  });
}

test("a callback works once: replayed with all cookies, it signs nobody in (sign-in-flow.2)", async () => {
  const browser = newBrowser();
  const callback = await reachCallback(browser, "ann");
  const thief = newBrowser();
  for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
  await browser.visit(callback.href);
  assert.equal((await readCaller(browser)).status, 200);
  const again = await browser.visit(callback.href);
  assert.equal(again.headers.get("location"), json("/console/inbox"), "the back button leads to the page");
  const replayed = await thief.visit(callback.href);
  assert.match(replayed.headers.get("location") ?? "", /sign_in_error=failed$/);
  assert.equal((await readCaller(thief)).status, 401);
});

test("a session cookie that an attacker planted is not the one after the sign-in (sign-in-flow.2)", async () => {
  const attacker = await signedIn("fin");
  const planted = attacker.cookies.get(SESSION) ?? "";
  const victim = newBrowser();
  victim.cookies.set(SESSION, planted);
  await victim.signIn(server.url, "ann");
  assert.notEqual(victim.cookies.get(SESSION), planted);
  assert.equal((await readCaller(victim)).caller.name, "ann@example.com");
  assert.equal((await readCaller(attacker)).status, 401, "the planted session ended");
});

test("a stolen cookie ends with the sign-out (sign-in-flow.3)", async () => {
  const browser = await signedIn("ann");
  const thief = newBrowser();
  thief.cookies.set(SESSION, browser.cookies.get(SESSION) ?? "");
  assert.equal((await readCaller(thief)).status, 200);
  const out = await post(browser, "/auth/sign-out", SAME_ORIGIN);
  assert.equal(out.status, 200);
  const next = new URL((JSON.parse(out.text) as { readonly url: string }).url);
  assert.equal(next.origin, provider.issuer, "the session at the provider ends too");
  assert.equal(next.searchParams.get("post_logout_redirect_uri"), json("/console/inbox"));
  assert.equal((await browser.visit(next.href)).status, 200);
  assert.equal(browser.cookies.has(SESSION), false);
  assert.equal((await readCaller(thief)).status, 401);
  assert.equal((await post(thief, "/auth/sign-out", SAME_ORIGIN)).status, 401);
});

test("a person who is removed is signed out everywhere (sign-in-flow.3)", async () => {
  const [one, other] = [await signedIn("fin"), await signedIn("fin")];
  const removed = await call(server, "DELETE", "/people/fin%40example.com", undefined, { "x-api-key": ADMIN });
  assert.equal(removed.status, 204);
  for (const browser of [one, other]) assert.equal((await readCaller(browser)).status, 401);
  await signedIn("fin");
});

test("a sign-in with fewer groups takes rights from older sessions too (sign-in-flow.3)", async () => {
  provider.accounts.set("moved", { email: "moved@example.com", groups: ["platform"] });
  const before = await signedIn("moved");
  assert.equal((await readCaller(before)).caller.role, "admin");
  provider.accounts.set("moved", { email: "moved@example.com", groups: ["finance"] });
  await signedIn("moved");
  assert.equal((await readCaller(before)).caller.role, "reviewer");
});

/** Signs out at the provider, not here. */
async function logOutThere(browser: Browser): Promise<void> {
  const page = await browser.visit(`${provider.issuer}/session/end`);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const body = new URLSearchParams({ xsrf, logout: "yes" });
  await browser.visit(`${provider.issuer}/session/end/confirm`, { method: "POST", body });
}

test("a logout at the provider ends the session here, and no other (sign-in-flow.7)", async () => {
  const [browser, other] = [await signedIn("ann"), await signedIn("ann")];
  await logOutThere(browser);
  assert.equal((await readCaller(browser)).status, 401);
  assert.equal((await readCaller(other)).status, 200, "another session at the provider");
});

const backChannel = (token: string) =>
  newBrowser().visit(json("/auth/back-channel-logout"), {
    method: "POST",
    body: new URLSearchParams({ logout_token: token }),
  });

test("a logout token without a session of the provider ends all sessions of its person, once (sign-in-flow.7)", async () => {
  const [one, two, other] = [await signedIn("ann"), await signedIn("ann"), await signedIn("fin")];
  const token = await provider.logoutToken({ sub: "ann" });
  const reply = await backChannel(token);
  assert.deepEqual([reply.status, reply.headers.get("cache-control")], [200, "no-store"], reply.text);
  for (const browser of [one, two]) assert.equal((await readCaller(browser)).status, 401);
  assert.equal((await readCaller(other)).status, 200);
  const again = await signedIn("ann");
  assert.match((await backChannel(token)).text, /used before/);
  assert.equal((await readCaller(again)).status, 200);
});

const LOGOUT_EVENT = { "http://schemas.openid.net/event/backchannel-logout": {} };
const WRONG_TOKENS: readonly (readonly [name: string, token: () => Promise<string>])[] = [
  ["a token with a signature of somebody else", () => provider.logoutToken({ sub: "ann" }, true)],
  ["a token for another client", () => provider.logoutToken({ sub: "ann", aud: "another" })],
  ["a token of another issuer", () => provider.logoutToken({ sub: "ann", iss: "https://evil.example" })],
  ["a token of an hour ago", () => provider.logoutToken({ sub: "ann", iat: Math.floor(Date.now() / 1000) - 3600 })],
  ["a token that has expired", () => provider.logoutToken({ sub: "ann", exp: Math.floor(Date.now() / 1000) - 60 })],
  ["an ID token", () => provider.logoutToken({ sub: "ann", events: undefined, nonce: "n" })],
  ["a token without the event", () => provider.logoutToken({ sub: "ann", events: undefined })],
  ["a logout token with a nonce", () => provider.logoutToken({ sub: "ann", nonce: "n", events: LOGOUT_EVENT })],
  ["a token without an id", () => provider.logoutToken({ sub: "ann", jti: undefined as unknown as string })],
  ["a token that names nobody", () => provider.logoutToken({})],
  ["an unsigned token", async () => `${btoa('{"alg":"none"}')}.${btoa('{"sub":"ann"}')}.`],
  ["no token", async () => ""],
  ["a text", async () => "x".repeat(40_000)],
];
for (const [name, token] of WRONG_TOKENS) {
  test(`${name} ends no session (sign-in-flow.7)`, async () => {
    const browser = await signedIn("ann");
    const reply = await backChannel(await token());
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.text, /"error":"invalid_request"/);
    assert.equal((await readCaller(browser)).status, 200);
  });
}

/** Opens a stream. @returns `isCut`, which resolves when the reply breaks off before its end */
async function openStream(path: string, headers: Readonly<Record<string, string>>): Promise<{ isCut: Promise<void> }> {
  const response = await fetch(json(path), { headers });
  assert.equal(response.status, 200);
  return { isCut: assert.rejects(response.text(), /terminated/) };
}

const readCookie = ({ cookies }: Browser): Readonly<Record<string, string>> => ({
  cookie: `${SESSION}=${cookies.get(SESSION) ?? ""}`,
});

test("a stream is cut when its session ends, by sign-out or by the provider (sign-in-flow.8)", async () => {
  const ends: readonly ((browser: Browser) => Promise<unknown>)[] = [
    (browser) => post(browser, "/auth/sign-out", SAME_ORIGIN),
    (browser) => logOutThere(browser),
    () => call(server, "DELETE", "/people/sue%40example.com", undefined, { "x-api-key": ADMIN }),
  ];
  for (const end of ends) {
    const browser = await signedIn("sue");
    const { isCut } = await openStream("/inbox/events", readCookie(browser));
    await end(browser);
    await isCut;
  }
});

test("a stream is cut when its key is revoked (sign-in-flow.8)", async () => {
  const body = { name: "reader", role: "viewer" };
  const made = await call(server, "POST", "/keys", body, { "x-api-key": ADMIN });
  const { key, key_id: keyId } = made.body as { readonly key: string; readonly key_id: string };
  const { isCut } = await openStream("/inbox/events", { "x-api-key": key });
  await call(server, "DELETE", `/keys/${keyId}`, undefined, { "x-api-key": ADMIN });
  await isCut;
});

test("the database has no ID token in clear, and the sign-out knows it still (sign-in-flow.9)", async () => {
  const browser = await signedIn("ann");
  const out = await post(browser, "/auth/sign-out", SAME_ORIGIN);
  const hint = new URL((JSON.parse(out.text) as { readonly url: string }).url).searchParams.get("id_token_hint") ?? "";
  assert.match(hint, /^[\w-]+\.[\w-]+\.[\w-]+$/);
  if (process.env["HOLDPOINT_TEST_STORAGE"] === "postgres") return; // the rest reads the files of the embedded database
  await signedIn("ann");
  const stored = readdirSync(server.dataDir).map((name) => readFileSync(join(server.dataDir, name), "latin1"));
  const header = hint.split(".")[0] ?? "none";
  assert.ok(stored.some((text) => text.includes("ann@example.com")));
  assert.ok(!stored.some((text) => text.includes(header)));
});

const OWN = "/people/me/console";
const EMPTY = { views: [], seen: [], tab: "" };
const readOwn = async (browser: Browser) =>
  JSON.parse((await browser.visit(json(OWN))).text) as { readonly person: string; readonly revision: string };
const putOwn = async (browser: Browser, body: object, headers: Readonly<Record<string, string>> = SAME_ORIGIN) =>
  browser.visit(json(OWN), {
    method: "PUT",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ revision: (await readOwn(browser)).revision, ...body }),
  });
const readBare = async (browser: Browser) => {
  const { person: _person, revision: _revision, ...own } = await readOwn(browser);
  return own;
};

test("what the console keeps is the person's own, in each browser, until the person is removed (sign-in-flow.10)", async () => {
  const [ann, fin] = [await signedIn("ann"), await signedIn("fin")];
  assert.deepEqual([await readBare(ann), await readBare(fin)], [EMPTY, EMPTY]);
  const own = { views: [{ name: "Mine", path: "/inbox", search: { kind: "form" } }], seen: ["t/i"], tab: "mine" };
  assert.equal((await putOwn(ann, own)).status, 200);
  assert.deepEqual(await readBare(await signedIn("ann")), own);
  assert.deepEqual(await readBare(fin), EMPTY, "another person's is not changed");
  assert.equal((await putOwn(fin, { ...EMPTY, tab: "groups" })).status, 200);
  assert.deepEqual(await readBare(ann), own);
  for (const name of ["ann%40example.com", "ann@example.com"]) {
    assert.equal((await fin.visit(json(`/people/${name}/console`))).status, 404, name);
  }
  await call(server, "DELETE", "/people/fin%40example.com", undefined, { "x-api-key": ADMIN });
  assert.equal((await fin.visit(json(OWN))).status, 401);
  assert.deepEqual(await readBare(await signedIn("fin")), EMPTY);
});

test("a write with the revision of another person, or of before another write, changes nothing (sign-in-flow.10)", async () => {
  const [ann, fin] = [await signedIn("ann"), await signedIn("fin")];
  assert.equal((await putOwn(fin, { ...EMPTY, tab: "groups" })).status, 200);
  for (const revision of [(await readOwn(ann)).revision, "", "0"]) {
    const { status, text } = await putOwn(fin, { ...EMPTY, revision });
    assert.equal(status, 409, text);
    assert.match(text, /"code":"console_changed"/);
  }
  const { revision } = await readOwn(fin);
  const both = await Promise.all(["mine", "unassigned"].map((tab) => putOwn(fin, { ...EMPTY, revision, tab })));
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 409],
  );
  const won = both.find(({ status }) => status === 200)?.text ?? "";
  assert.deepEqual(await readOwn(fin), JSON.parse(won));
  assert.equal((await readOwn(fin)).person, "fin@example.com");
});

for (const [what, body] of [
  ["an unknown member", { ...EMPTY, person: "fin@example.com" }],
  ["no tab", { views: [], seen: [] }],
  ["no revision", { ...EMPTY, revision: undefined }],
  ["an unknown member of a view", { ...EMPTY, views: [{ name: "a", path: "/inbox", search: {}, to: "b" }] }],
  ["a number in a filter", { ...EMPTY, views: [{ name: "a", path: "/inbox", search: { older: 7 } }] }],
  ["51 views", { ...EMPTY, views: Array.from({ length: 51 }, () => ({ name: "a", path: "/inbox", search: {} })) }],
  ["1,001 read marks", { ...EMPTY, seen: Array.from({ length: 1001 }, () => "t/i") }],
  ["a long tab", { ...EMPTY, tab: "t".repeat(17) }],
  [
    "more than 200,000 characters",
    { ...EMPTY, views: Array.from({ length: 50 }, () => ({ name: "a", path: "/", search: long(4) })) },
  ],
] as const) {
  test(`${what} is refused, and the state before stays (sign-in-flow.10)`, async () => {
    const browser = await signedIn("sue");
    assert.equal((await putOwn(browser, { ...EMPTY, tab: "mine" })).status, 200);
    const { status, text } = await putOwn(browser, body);
    assert.equal(status, 422, text);
    assert.match(text, /"code":"invalid_request"/);
    assert.deepEqual(await readBare(browser), { ...EMPTY, tab: "mine" });
  });
}

/** Filters of 1,024 characters each. */
function long(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, "x".repeat(1024)]));
}

test("keys have no console of their own, nor has a page of another site one (sign-in-flow.10)", async () => {
  const made = await call(server, "POST", "/keys", { name: "program", role: "admin" }, { "x-api-key": ADMIN });
  for (const key of [ADMIN, (made.body as { readonly key: string }).key]) {
    for (const [method, body] of [
      ["GET", undefined],
      ["PUT", { revision: "", ...EMPTY }],
    ] as const) {
      const { status, text } = await call(server, method, OWN, body, { "x-api-key": key });
      assert.equal(status, 404, text);
      assert.match(text, /"code":"person_not_found"/);
    }
  }
  assert.equal((await newBrowser().visit(json(OWN))).status, 401);
  const browser = await signedIn("sue");
  assert.equal((await putOwn(browser, EMPTY, { "sec-fetch-site": "cross-site" })).status, 403);
});

test("a server without sign-in keeps no console of a person (sign-in-flow.10)", async (t) => {
  const open = await startServerHere({});
  t.after(async () => {
    await open.stop();
    removeFolder(open.dataDir);
  });
  for (const [method, body] of [
    ["GET", undefined],
    ["PUT", { revision: "", ...EMPTY }],
  ] as const) {
    const { status, text } = await call(open, method, OWN, body);
    assert.equal(status, 404, text);
    assert.match(text, /"code":"person_not_found"/);
  }
});

test("servers on two ports of one host do not sign each other out (sign-in-flow.3)", async (t) => {
  const env = { ...provider.env, HOLDPOINT_ROLES: "*=viewer" };
  const second = await startServerHere({ env });
  t.after(async () => {
    await second.stop();
    removeFolder(second.dataDir);
  });
  const browser = await signedIn("ann");
  browser.cookies.set(sessionOn(second), "A".repeat(43)); // of the other server
  assert.equal((await readCaller(browser)).status, 200);
  assert.equal((await readCaller(browser, second)).status, 401);
});

const ELSEWHERE: readonly (readonly [name: string, headers: Readonly<Record<string, string>>])[] = [
  ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
  ["another port of this machine", { "sec-fetch-site": "same-site", origin: "http://127.0.0.1:9999" }],
  ["an old browser on another site", { origin: "https://evil.example" }],
  ["an old browser on another port of this machine", { origin: "http://127.0.0.1:9999" }],
  ["no page at all", {}],
  ["a sandboxed frame", { "sec-fetch-site": "cross-site", origin: "null" }],
];
for (const [name, headers] of ELSEWHERE) {
  test(`a request that changes something from ${name} is refused (sign-in-flow.4)`, async () => {
    const browser = await signedIn("ann");
    for (const [path, body] of [
      ["/threads", {}],
      ["/keys", { name: "mine", role: "admin" }],
      ["/auth/sign-out", {}],
    ] as const) {
      const { status, text } = await post(browser, path, headers, body);
      assert.equal(status, 403, text);
      assert.match(text, /"code":"forbidden_origin"/);
    }
    assert.equal((await readCaller(browser)).status, 200, "still signed in");
  });
}

test("pages of this server may change something, by Sec-Fetch-Site or by Origin (sign-in-flow.4)", async () => {
  const browser = await signedIn("ann");
  for (const headers of [SAME_ORIGIN, { origin: server.url }])
    assert.equal((await post(browser, "/threads", headers)).status, 200);
});

test("a request with a wrong key is not made in the name of the cookie (sign-in-flow.4)", async () => {
  const browser = await signedIn("ann");
  for (const headers of [{ "x-api-key": "wrong" }, { authorization: "Bearer wrong" }])
    assert.equal((await browser.visit(json("/inbox"), { headers })).status, 401);
});

const RETURNS: readonly (readonly [given: string, landed: string])[] = [
  ["/console/threads", "/console/threads"],
  ["//evil.example/x", "/console/inbox"],
  ["/\\evil.example", "/console/inbox"],
  ["/\t/evil.example", "/console/inbox"],
  ["https://evil.example", "/console/inbox"],
  ["javascript:alert(1)", "/console/inbox"],
  ["console", "/console/inbox"],
  [`/${"x".repeat(3000)}`, "/console/inbox"],
  ["", "/console/inbox"],
];
for (const [given, landed] of RETURNS) {
  test(`after the sign-in, ${JSON.stringify(given.slice(0, 30))} leads to ${landed} (sign-in-flow.5)`, async () => {
    const { url } = await newBrowser().signIn(server.url, "ann", given);
    assert.equal(url, json(landed));
  });
}

test("another Host than the public address is sent there first, so that the attempt can end (sign-in-flow.2)", async () => {
  const byName = server.url.replace("127.0.0.1", "localhost");
  const landed = await newBrowser().signIn(byName, "ann", "/console/threads");
  assert.equal(landed.url, json("/console/threads"));
});

test("gateways take keys; a cookie starts nothing through them (sign-in-flow.4)", async () => {
  const browser = await signedIn("ann");
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "agent", arguments: {} } };
  const reply = await post(browser, "/mcp", { ...SAME_ORIGIN, accept: "application/json, text/event-stream" }, message);
  assert.ok(reply.status >= 400 || !/"isError":false/.test(reply.text), reply.text);
  const threads = await call(server, "POST", "/threads/search", { metadata: { via: "mcp" } }, { "x-api-key": ADMIN });
  assert.equal(threads.text, "[]");
});

test("a session that ends on one server has ended on every other (sign-in-flow.3)", async (t) => {
  const own = await startOpenIdProvider();
  const env = { ...own.env, HOLDPOINT_ROLES: "*=viewer", DATABASE_URI: await newDatabase() };
  const servers = [await startServerHere({ env }), await startServerHere({ env })] as const;
  t.after(async () => {
    for (const one of servers) {
      await one.stop();
      removeFolder(one.dataDir);
    }
    await own.stop();
  });
  own.allow(...servers.map(({ url }) => url));
  own.accounts.set("ann", { email: "ann@example.com" });
  const browser = newBrowser();
  await browser.signIn(servers[0].url, "ann");
  const token = browser.cookies.get(sessionOn(servers[0])) ?? "";
  browser.cookies.set(sessionOn(servers[1]), token); // a browser gets it from the shared public address
  for (const one of servers) assert.equal((await readCaller(browser, one)).status, 200);
  await browser.visit(`${servers[1].url}/auth/sign-out`, { method: "POST", headers: SAME_ORIGIN });
  for (const one of servers) browser.cookies.set(sessionOn(one), token);
  for (const one of servers) assert.equal((await readCaller(browser, one)).status, 401);
});

test("a provider that cannot be reached delays neither the start nor callers with keys (sign-in-flow.1)", async (t) => {
  const env = { ...provider.env, HOLDPOINT_OIDC_ISSUER: "http://127.0.0.1:1", HOLDPOINT_ROLES: "*=viewer" };
  const alone = await startServerHere({ env: { ...env, HOLDPOINT_API_KEYS: `root:${ADMIN}` } });
  t.after(async () => {
    await alone.stop();
    removeFolder(alone.dataDir);
  });
  const { headers } = await newBrowser().visit(`${alone.url}/auth/sign-in`);
  assert.match(headers.get("location") ?? "", /sign_in_error=unreachable$/);
  assert.equal((await call(alone, "GET", "/inbox", undefined, { "x-api-key": ADMIN })).status, 200);
});

const WRONG: readonly (readonly [env: Readonly<Record<string, string>>, says: RegExp])[] = [
  [
    { HOLDPOINT_OIDC_ISSUER: "https://id.example" },
    /HOLDPOINT_OIDC_CLIENT_ID: is not set[^]*HOLDPOINT_ROLES: is not set/,
  ],
  [{ HOLDPOINT_OIDC_CLIENT_ID: "x" }, /HOLDPOINT_OIDC_ISSUER: is not set/],
  [{ HOLDPOINT_OIDC_ISSUER: "http://id.example" }, /must be an https URL/],
  [{ HOLDPOINT_OIDC_SCOPES: "profile" }, /has no openid/],
  [{ HOLDPOINT_ROLES: "finance=boss" }, /not of the form group=role/],
  [{ HOLDPOINT_ROLES: '[{"group": "a"}]' }, /rule 1 needs "role"/],
  [{ HOLDPOINT_CONSOLE: "false" }, /HOLDPOINT_CONSOLE: is off/],
  [{ HOST: "0.0.0.0" }, /HOLDPOINT_PUBLIC_URL: is not set/],
];
const COMPLETE = {
  HOLDPOINT_OIDC_ISSUER: "https://id.example",
  HOLDPOINT_OIDC_CLIENT_ID: "x",
  HOLDPOINT_ROLES: "*=viewer",
};
for (const [env, says] of WRONG) {
  test(`${JSON.stringify(env)} prevents the start: ${says.source} (sign-in-flow.6)`, async () => {
    const base =
      Object.keys(env)[0]?.startsWith("HOLDPOINT_OIDC_") === true && !says.source.includes("openid") ? {} : COMPLETE;
    await assert.rejects(startServerHere({ env: { ...base, ...env } }), (error) => {
      assert.ok(error instanceof NotStarted);
      assert.match(error.message, says);
      return true;
    });
  });
}
