// Tests of handlers written with the SDK's `Auth`: auth-handlers.1, accepted and rejected callers; auth-handlers.2, the
// handler that decides; auth-handlers.3, the meaning of its answer; changes to the request.
import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Access, AuthorizationDecision } from "../../ports/ports.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createHandlerAccess } from "./auth-handlers.ts";

type Handlers = Parameters<typeof createHandlerAccess>[0];
const logged: unknown[] = [];
const note = (event: string, fields?: object): void => void logged.push([event, fields]);
const log: Log = { debug: note, info: note, warning: note, error: note };

function createTestAccess(auth: unknown): Access {
  return createHandlerAccess((auth as { readonly "~handlerCache": Handlers })["~handlerCache"], log);
}

const answering = (answer: unknown): Access =>
  createTestAccess(new Auth().authenticate((() => answer) as () => string));
const throwing = (error: unknown): Access =>
  createTestAccess(
    new Auth().authenticate(() => {
      throw error;
    }),
  );
const REQUEST = { method: "POST", url: "/threads?x=1", headers: { host: "h.example:1", authorization: "Bearer t" } };

async function refusal(work: Promise<unknown>): Promise<ApiError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error;
  }
  return assert.fail("it was let through");
}

test("a text is the identity; an object adds members, and missing ones get defaults", async () => {
  const user = { identity: "ann", display_name: "ann", is_authenticated: true, permissions: [] };
  assert.deepEqual(await answering("ann").authenticate(REQUEST), { name: "ann", user, permissions: [] });
  const more = { identity: "ann", permissions: ["a", 1], org: "acme", secret: () => 1, display_name: "Ann" };
  assert.deepEqual(await answering(Promise.resolve(more)).authenticate(REQUEST), {
    name: "ann",
    user: { identity: "ann", permissions: ["a"], org: "acme", display_name: "Ann", is_authenticated: true },
    permissions: ["a"],
  });
});

test("the handler sees method, address and headers, and no other host than the requested one", async () => {
  const seen: string[] = [];
  const access = createTestAccess(
    new Auth().authenticate(({ method, url, headers }) => {
      seen.push(`${method} ${url} ${headers.get("authorization")}`);
      return "ann";
    }),
  );
  await access.authenticate(REQUEST);
  await access.authenticate({ ...REQUEST, url: "//evil.example/threads" });
  await access.authenticate({ ...REQUEST, headers: { host: "a b" } });
  assert.deepEqual(seen, [
    "POST http://h.example:1/threads?x=1 Bearer t",
    "POST http://h.example:1//evil.example/threads Bearer t",
    "POST http://localhost/threads?x=1 null",
  ]);
});

const OUT: readonly (readonly [name: string, access: Access, status: number, code: string, detail: RegExp])[] = [
  [
    "an HTTPException 401",
    throwing(new HTTPException(401, { message: "expired" })),
    401,
    "unauthenticated",
    /^expired$/,
  ],
  ["an HTTPException 403", throwing(new HTTPException(403, { message: "no" })), 403, "forbidden", /^no$/],
  ["an HTTPException 402", throwing(new HTTPException(402, { message: "pay" })), 402, "refused_by_handler", /^pay$/],
  ["an HTTPException 503", throwing(new HTTPException(503)), 503, "refused_by_handler", /^Service Unavailable$/],
  ["an HTTPException 200", throwing(new HTTPException(200)), 401, "unauthenticated", /not accepted/],
  ["any other error", throwing(new Error("bad token t")), 401, "unauthenticated", /not accepted/],
  ["a text that is thrown", throwing("t"), 401, "unauthenticated", /not accepted/],
  ["false", answering(false), 401, "unauthenticated", /not accepted/],
  ["null", answering(null), 401, "unauthenticated", /not accepted/],
  ["nothing", answering(undefined), 401, "unauthenticated", /not accepted/],
  ["is_authenticated: false", answering({ identity: "a", is_authenticated: false }), 401, "unauthenticated", /not acc/],
];

for (const [name, access, status, code, detail] of OUT) {
  test(`${name} rejects the caller with ${status} (auth-handlers.1)`, async () => {
    const error = await refusal(access.authenticate(REQUEST));
    assert.deepEqual([error.status, error.code], [status, code]);
    assert.match(error.message, detail);
  });
}

test("callers do not see the message of a failed check; a defect of the handler goes to the log (auth-handlers.1)", async () => {
  logged.length = 0;
  await refusal(throwing(new Error("bad token t")).authenticate(REQUEST));
  await refusal(throwing(new TypeError("x is not a function")).authenticate(REQUEST));
  const [quiet, loud] = logged as readonly [string, { readonly name: string; readonly message?: string }][];
  assert.deepEqual(quiet, ["authenticate_failed", { name: "Error" }]);
  assert.equal(loud?.[1].message, "x is not a function");
});

for (const given of [{}, { identity: "" }, { identity: 1 }, [], 7, { identity: "a", note: "x".repeat(70_000) }]) {
  test(`an answer that is not a user is a defect and rejects the caller: ${JSON.stringify(given).slice(0, 40)} (auth-handlers.1)`, async () => {
    await assert.rejects(answering(given).authenticate(REQUEST), (error) => !(error instanceof ApiError));
  });
}

const refusalWithHeaders = new HTTPException(401, {
  message: "m",
  headers: { "WWW-Authenticate": "Basic", "content-type": "a/b" },
});
test("headers of an HTTPException reach the caller, except those of a body", async () => {
  const error = await refusal(throwing(refusalWithHeaders).authenticate(REQUEST));
  assert.deepEqual(error.headers, { "www-authenticate": "Basic" });
});

// Authorization.

const CALLER = { name: "ann", user: { identity: "ann" }, permissions: ["p"] };

/** Handlers that record their own name, under the given events. */
function noting(...events: readonly string[]): { readonly access: Access; readonly asked: string[] } {
  const asked: string[] = [];
  const auth = new Auth().authenticate(() => "ann");
  for (const event of events) auth.on(event as "*", () => void asked.push(event));
  return { access: createTestAccess(auth), asked };
}

const ORDER: readonly (readonly [events: readonly string[], decides: string | undefined])[] = [
  [["*", "*:create", "threads", "threads:create"], "threads:create"],
  [["*", "*:create", "threads"], "threads"],
  [["*", "*:create", "assistants"], "*:create"],
  [["*", "*:read", "assistants:create"], "*"],
  [["assistants"], undefined],
];

for (const [events, decides] of ORDER) {
  test(`of ${events.join(", ")}, ${decides ?? "none"} decides about threads:create (auth-handlers.2)`, async () => {
    const { access, asked } = noting(...events);
    const answer = await access.authorize(CALLER, { event: "threads:create", value: { a: 1 } });
    assert.deepEqual(asked, decides === undefined ? [] : [decides]);
    assert.deepEqual(answer, { scope: null, value: { a: 1 } });
  });
}

function deciding(answer: unknown): Promise<AuthorizationDecision> {
  const auth = new Auth().authenticate(() => "ann").on("*", (() => answer) as () => boolean);
  return createTestAccess(auth).authorize(CALLER, { event: "threads:read", value: {} });
}

const SCOPES: readonly (readonly [answer: unknown, scope: AuthorizationDecision["scope"]])[] = [
  [true, null],
  [null, null],
  [undefined, null],
  [Promise.resolve(true), null],
  [{ owner: "ann" }, [{ key: "owner", op: "eq", value: "ann" }]],
  [{ owner: { $eq: "ann" } }, [{ key: "owner", op: "eq", value: "ann" }]],
  [{ team: { $contains: "red" } }, [{ key: "team", op: "contains", value: "red" }]],
  [
    { team: { $contains: ["red", "blue"] }, n: 1 },
    [
      { key: "team", op: "contains", value: "red" },
      { key: "team", op: "contains", value: "blue" },
      { key: "n", op: "eq", value: 1 },
    ],
  ],
  [{ owner: { $eq: "" } }, [{ key: "owner", op: "eq", value: "" }]],
  [{}, []],
];

for (const [answer, scope] of SCOPES) {
  test(`the answer ${JSON.stringify(answer)} allows ${JSON.stringify(scope)} (auth-handlers.3)`, async () => {
    assert.deepEqual((await deciding(answer)).scope, scope);
  });
}

test("false is 403 (auth-handlers.1)", async () => {
  const error = await refusal(deciding(false));
  assert.deepEqual([error.status, error.code], [403, "forbidden"]);
});

const DEFECTS: readonly unknown[] = [
  "yes",
  1,
  ["owner"],
  { owner: undefined },
  { owner: null },
  { owner: {} },
  { owner: { $ne: "x" } },
  { owner: { $eq: undefined } },
  { owner: { $eq: { a: 1 } } },
  { owner: { $contains: [] } },
  { owner: { $contains: [{ a: 1 }] } },
];

for (const answer of DEFECTS) {
  const shown = JSON.stringify(answer, (_, value: unknown) => (value === undefined ? "undefined" : value));
  test(`the answer ${shown} is a defect and allows nothing (auth-handlers.3)`, async () => {
    await assert.rejects(deciding(answer), (error) => error instanceof Error && !(error instanceof ApiError));
  });
}

test("a handler's change of the request counts; the caller's own request stays unchanged", async () => {
  const asked: unknown[] = [];
  const auth = new Auth()
    .authenticate(() => "ann")
    .on("threads:create", (context) => {
      asked.push({ ...context, value: structuredClone(context.value) });
      context.value.metadata ??= {};
      context.value.metadata["owner"] = context.user.identity;
      (context.value as Record<string, unknown>)["note"] = undefined;
    });
  const value: JsonObject = { thread_id: "t", metadata: { a: 1 } };
  const answer = await createTestAccess(auth).authorize(CALLER, { event: "threads:create", value });
  assert.deepEqual(answer.value, { thread_id: "t", metadata: { a: 1, owner: "ann" } });
  assert.deepEqual(value, { thread_id: "t", metadata: { a: 1 } });
  const names = { event: "threads:create", resource: "threads", action: "create" };
  assert.deepEqual(asked, [{ ...names, value, user: CALLER.user, permissions: ["p"] }]);
});
