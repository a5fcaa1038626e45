// Tests of headers that graphs may see. Checked: configurable-headers.1, included and excluded headers;
// configurable-headers.2, credentials under whatever name, whatever the rules say; configurable-headers.3, an included
// name comes from the header only.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigurableHeaders } from "./configurable-headers.ts";

const picked = (includes: readonly string[], excludes: readonly string[], headers: Record<string, string | string[]>) =>
  createConfigurableHeaders({ includes, excludes }).pick(headers);

const SENT = { "x-user-id": "7", "x-team": "red", "my-a": "1", "my-b": "2", accept: "*/*", "user-agent": "node" };

const RULES: readonly (readonly [includes: string[], excludes: string[], names: string[]])[] = [
  [[], [], []],
  [["x-user-id"], [], ["x-user-id"]],
  [["my-*"], [], ["my-a", "my-b"]],
  [["my-*"], ["my-b"], ["my-a"]],
  [["*"], ["x-*", "accept"], ["my-a", "my-b", "user-agent"]],
  [["x-user-i."], [], []],
  [["*-id", "x-t*m"], [], ["x-user-id", "x-team"]],
];

for (const [includes, excludes, names] of RULES) {
  test(`including ${includes.join(", ") || "nothing"}, excluding ${excludes.join(", ") || "nothing"}: ${names.join(", ") || "none"} (configurable-headers.1)`, () => {
    assert.deepEqual(Object.keys(picked(includes, excludes, SENT)), names);
  });
}

test("without rules, copies no header and removes no name (configurable-headers.1)", () => {
  const none = createConfigurableHeaders(null);
  assert.deepEqual(none.pick(SENT), {});
  assert.deepEqual(none.strip({ "x-user-id": "8" }), { "x-user-id": "8" });
});

const SECRETS = [
  "authorization",
  "proxy-authorization",
  "x-forwarded-authorization",
  "x-auth",
  "x-auth-request-email",
  "cookie",
  "set-cookie",
  "x-api-key",
  "api-key",
  "apikey",
  "x-service-key",
  "x-goog-api-key",
  "ocp-apim-subscription-key",
  "x-access-token",
  "x-csrf-token",
  "x-xsrf",
  "x-amz-security-token",
  "x-amz-signature",
  "x-hub-signature-256",
  "x-secret",
  "x-client-secret",
  "x-password",
  "x-session-id",
  "x-id-jwt",
  "x-tenant-id",
  "x-forwarded-client-cert",
  "x-ssl-client-cert",
  "x-vault-credential",
];

for (const name of SECRETS) {
  test(`${name} is not seen, also when it is included by name (configurable-headers.2)`, () => {
    assert.deepEqual(picked([name, "*"], [], { [name]: "secret" }), {});
  });
}

test("copies ordinary names that merely contain such a word (configurable-headers.2)", () => {
  const sent = { "x-author": "a", "x-keyboard": "b", "x-monkey": "c", "x-user-id": "d", "x-organization-id": "e" };
  assert.deepEqual(picked(["*"], [], sent), sent);
});

test("an included name comes from the header, and replaces the value in the request's config (configurable-headers.3)", () => {
  const headers = createConfigurableHeaders({ includes: ["x-user-*"], excludes: ["x-user-note"] });
  const given = { "x-user-id": "8", "X-User-Role": "root", "x-user-note": "mine", other: 1 };
  assert.deepEqual(headers.strip(given), { "x-user-note": "mine", other: 1 });
});

test("a pattern with many stars takes time in proportion to a name, however long the caller's names are", () => {
  const headers = createConfigurableHeaders({ includes: ["*a*a*a*a*a*a*a*b"], excludes: [] });
  const name = "a".repeat(50_000);
  assert.deepEqual(Object.keys(headers.strip({ [name]: 1, [`${name}b`]: 2 })), [name]);
});
