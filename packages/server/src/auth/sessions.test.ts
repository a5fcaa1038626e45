// Tests of sessions: time and rotation. Checked: sessions.2, ends by time; sessions.4, rotation; cookies.1 and cookies.2.
// test/agent/sign-in.test.ts has the rest, with a provider.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createIdSource } from "@holdpoint/base/ids.ts";
import { openStorage } from "../../../../test/harness/storage/sqlite-storage.ts";
import { createAccessChanges } from "./access-changes.ts";
import { createCookies } from "./cookies.ts";
import { parseRoleRules } from "./role-rules.ts";
import { createSessions, seal, unseal } from "./sessions.ts";

const HOUR = 3_600_000;
const IDLE = 12 * HOUR;
const LIFE = 7 * 24 * HOUR;
const ANN = {
  name: "ann",
  issuer: "i",
  subject: "s",
  displayName: "Ann",
  email: null,
  groups: [],
  createdAt: 1,
  seenAt: 1,
};
const FROM = { providerSession: null, idToken: "a.b.c", claims: {} };

const requestWith = (token: string) => ({
  method: "GET",
  url: "/",
  headers: { host: "localhost:8123", cookie: `theme=dark; holdpoint-session-8123=${token}` },
});
const tokenIn = (cookie: string | null): string => /holdpoint-session-8123=([\w-]*);/.exec(cookie ?? "")?.[1] ?? "";

async function opened(t: TestContext) {
  const storage = await openStorage(t);
  let now = 1_000_000;
  const cookies = createCookies({ secure: false, path: "" });
  const changes = createAccessChanges();
  const clock = { ...systemClock, now: () => now };
  const times = { idleMs: IDLE, lifeMs: LIFE };
  const newId = createIdSource(() => now);
  const rules = parseRoleRules("*=viewer");
  const outage = { isNow: false };
  const failing: typeof storage = {
    ...storage,
    transaction: (work) =>
      outage.isNow ? Promise.reject(new ApiError("storage_unavailable", "")) : storage.transaction(work),
  };
  const sessions = createSessions({
    storage: failing,
    clock,
    newId,
    cookies,
    rules,
    ...times,
    publicUrl: null,
    changes,
  });
  const cookie = await storage.transaction(async (tx) => {
    await tx.putPerson(ANN);
    return sessions.open(tx, "ann", { method: "GET", url: "/", headers: { host: "localhost:8123" } }, FROM);
  });
  const isIn = async (token: string): Promise<boolean> => {
    const caller = await sessions.source(requestWith(token)).catch(() => null);
    await storage.transactionDeferred(() => undefined); // after the deferred note of the use
    return caller?.name === "ann";
  };
  const pass = (ms: number) => void (now += ms);
  return {
    sessions,
    outage,
    isIn,
    pass,
    token: tokenIn(cookie),
    rotate: (token: string) => sessions.rotate(requestWith(token)),
  };
}

test("a session without requests ends after the idle time; each request starts that time anew (sessions.2)", async (t) => {
  const { isIn, pass, token, sessions } = await opened(t);
  for (let count = 0; count < 3; count++) {
    pass(IDLE - 1);
    assert.ok(await isIn(token), `request ${count}`);
  }
  pass(IDLE);
  assert.ok(!(await isIn(token)));
  await sessions.sweep();
  assert.ok(!(await isIn(token)));
});

test("a session ends at its expiry, however much it is used (sessions.2)", async (t) => {
  const { isIn, pass, token } = await opened(t);
  for (let passed = 0; passed + IDLE / 2 < LIFE; passed += IDLE / 2) {
    assert.ok(await isIn(token));
    pass(IDLE / 2);
  }
  pass(IDLE / 2);
  assert.ok(!(await isIn(token)));
});

test("a token is replaced after an hour; the old one ends a minute after the first use of the new one (sessions.4)", async (t) => {
  const { isIn, pass, token, rotate } = await opened(t);
  pass(HOUR - 1);
  assert.equal(await rotate(token), null);
  pass(1);
  const next = tokenIn(await rotate(token));
  assert.match(next, /^[\w-]{43}$/);
  assert.notEqual(next, token);
  pass(HOUR);
  assert.ok(await isIn(token), "the reply with the new token may be lost");
  assert.ok(await isIn(next));
  pass(59_999);
  assert.ok(await isIn(token), "a request may be on its way");
  pass(1);
  assert.ok(!(await isIn(token)));
  assert.ok(await isIn(next));
  assert.equal(await rotate(token), null, "an old token gets no new one");
});

test("a session goes on with its token while the storage takes no writes (sessions.4)", async (t) => {
  const { isIn, outage, pass, token, rotate } = await opened(t);
  pass(2 * HOUR);
  outage.isNow = true;
  assert.equal(await rotate(token), null);
  assert.ok(await isIn(token));
  outage.isNow = false;
  assert.notEqual(await rotate(token), null);
});

test("of several pages that rotate at once, one gets a token, and all stay signed in (sessions.4)", async (t) => {
  const { isIn, pass, token, rotate } = await opened(t);
  pass(2 * HOUR);
  const cookies = await Promise.all([rotate(token), rotate(token), rotate(token)]);
  const given = cookies.filter((cookie) => cookie !== null);
  assert.equal(given.length, 1);
  assert.ok(await isIn(token));
  assert.ok(await isIn(tokenIn(given[0] ?? null)));
});

test("with https, names have the prefix that other hosts cannot set (cookies.1)", () => {
  const write = (path: string) => createCookies({ secure: true, path }).write("a", "b", 5);
  assert.equal(write(""), "__Host-a=b; Max-Age=5; Path=/; HttpOnly; SameSite=Lax; Secure");
  assert.equal(write("/x"), "__Secure-a=b; Max-Age=5; Path=/x; HttpOnly; SameSite=Lax; Secure");
});

test("a cookie that occurs twice has no value (cookies.2)", () => {
  const cookies = createCookies({ secure: false, path: "" });
  const read = (cookie: string) => cookies.read({ headers: { cookie } }, "a");
  assert.equal(read("x=1; a=2"), "2");
  assert.equal(read("a=1; a=2"), null);
  assert.equal(read("aa=1; xa=2"), null);
});

// Tests of sealed texts (sealed-text.1).

test("a text opens with its token only, and not after a change (sealed-text.1)", () => {
  const sealed = seal("an ID token ü", "token");
  assert.equal(unseal(sealed, "token"), "an ID token ü");
  assert.equal(unseal(sealed, "another"), null);
  assert.notEqual(seal("an ID token ü", "token"), sealed, "the same text never looks the same");
  const bytes = Buffer.from(sealed, "base64url");
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(unseal(changed.toString("base64url"), "token"), null, `byte ${at}`);
  }
});

test("a text that was never sealed opens to nothing (sealed-text.1)", () => {
  for (const text of ["", "a.b.c", "x".repeat(500)]) assert.equal(unseal(text, "token"), null);
});
