// Tests of CORS: cors.1 the default, cors.2 preflights by the rules, cors.3 credentials, cors.4 exposed headers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createCors, LOOPBACK_CORS, type CorsRules } from "./cors.ts";

const rules = (given: Partial<CorsRules>): CorsRules => ({ ...LOOPBACK_CORS, pattern: null, ...given });
const ORIGIN = "https://app.example.com";
const allowed = (given: CorsRules, origin: string | undefined): readonly [string | undefined, string | undefined] => {
  const headers = createCors(given).headers(origin);
  return [headers["Access-Control-Allow-Origin"], headers["Access-Control-Allow-Credentials"]];
};

const NAMED = rules({ origins: [ORIGIN] });
const TRUSTED = rules({ origins: [ORIGIN], credentials: true });
const PATTERN = rules({ pattern: /^(?:https:\/\/[a-z]+\.example\.com)$/, credentials: true });
const ANY = rules({ origins: ["*"], credentials: true });
const ANY_AND_ONE = rules({ origins: ["*", ORIGIN], credentials: true });

const CASES: readonly (readonly [name: string, given: CorsRules, origin: string | undefined, ...says: unknown[]])[] = [
  ["by default, a page of this machine", LOOPBACK_CORS, "http://localhost:3000", "http://localhost:3000", undefined],
  ["by default, any other page", LOOPBACK_CORS, ORIGIN, undefined, undefined],
  ["by default, a page without an origin", LOOPBACK_CORS, "null", undefined, undefined],
  ["a named origin", NAMED, ORIGIN, ORIGIN, undefined],
  ["a named origin, which replaces the default", NAMED, "http://localhost:3000", undefined, undefined],
  ["a name that merely begins like it", NAMED, `${ORIGIN}.evil.org`, undefined, undefined],
  ["a named origin, trusted with credentials", TRUSTED, ORIGIN, ORIGIN, "true"],
  ["an origin that the pattern matches", PATTERN, "https://a.example.com", "https://a.example.com", "true"],
  ["an origin that merely contains a match", PATTERN, "https://a.example.com.evil.org", undefined, undefined],
  ["any origin: never reflected, never with credentials", ANY, "https://evil.org", "*", undefined],
  ["any origin, no page", ANY, "null", "*", undefined],
  ["an origin that calls itself *", ANY, "*", "*", undefined],
  ["any origin, one of them named", ANY_AND_ONE, ORIGIN, ORIGIN, "true"],
  ["any origin, one of them named, another asks", ANY_AND_ONE, "https://evil.org", "*", undefined],
  ["no origin", ANY, undefined, undefined, undefined],
  ["an origin without end", ANY, `https://${"a".repeat(1000)}`, undefined, undefined],
];

for (const [name, given, origin, ...says] of CASES) {
  test(`${name}: ${says[0] === undefined ? "reads nothing" : `reads as ${JSON.stringify(says[0])}`} (cors.1, cors.3)`, () => {
    assert.deepEqual(allowed(given, origin), says);
    const { preflight } = createCors(given);
    const { "Access-Control-Allow-Origin": at, "Access-Control-Allow-Credentials": credentials } = preflight(
      origin,
      "x",
    );
    assert.deepEqual([at, credentials], says, "a preflight says the same");
    assert.equal(createCors(given).allows(origin), says[0] !== undefined);
  });
}

test("clients can read the standard headers in addition to the configured ones (cors.4)", () => {
  const { "Access-Control-Expose-Headers": exposed = "" } = createCors(
    rules({ origins: ["*"], exposed: ["X-Mine"] }),
  ).headers("http://a");
  assert.deepEqual(exposed.split(", "), [
    "Content-Location",
    "Location",
    "Retry-After",
    "X-Pagination-Total",
    "X-Pagination-Next",
    "Mcp-Session-Id",
    "WWW-Authenticate",
    "X-Mine",
  ]);
});

test("a preflight names the methods and headers of the rules, else the requested ones (cors.2)", () => {
  const ask = (given: Partial<CorsRules>) =>
    createCors(rules({ origins: [ORIGIN], ...given })).preflight(ORIGIN, "x-a, x-b");
  const open = ask({});
  assert.equal(open["Access-Control-Allow-Headers"], "x-a, x-b");
  assert.equal(open["Access-Control-Allow-Methods"], "GET, POST, PUT, PATCH, DELETE");
  assert.equal(open["Access-Control-Max-Age"], "600");
  const narrow = ask({ methods: ["GET"], headers: ["x-a"], maxAgeSecs: 5 });
  assert.equal(narrow["Access-Control-Allow-Headers"], "x-a");
  assert.equal(narrow["Access-Control-Allow-Methods"], "GET");
  assert.equal(narrow["Access-Control-Max-Age"], "5");
});
