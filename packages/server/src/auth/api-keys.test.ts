// Tests of API keys. Checked: valid and invalid settings, without showing a key; the caller of a request;
// api-keys.1, nothing that is kept holds a key; api-keys.3, the role of a key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ConfigError, printConfig, readConfig, listSecrets } from "@holdpoint/base/config/config.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { apiKeySource, apiKeysSetting, parseApiKeys } from "./api-keys.ts";
import { createRoleAccess } from "./role-access.ts";

const ANN = "k1-5f2c9a7be01d44c8";
const ROBOT = "k2-90ab12cd34ef56ab";
const VIEWER = "k3-7777aaaa8888bbbb";
const BARE = "k4-0123456789abcdef";
const ALL = `ann:${ANN},robot:${ROBOT}:reviewer\n viewer:${VIEWER}:viewer ${BARE}`;
const table = { keys: apiKeysSetting("KEYS", "Keys.") } as const;

test("keys are read with names, rights and without; the configuration shows none of them (api-keys.1)", () => {
  const config = readConfig({ KEYS: ALL }, table, () => "");
  const kept = config.keys ?? [];
  assert.deepEqual(
    kept.map(({ name, role }) => [name.replace(/[0-9a-f]{8}$/, "…"), role]),
    [
      ["ann", "admin"],
      ["robot", "reviewer"],
      ["viewer", "viewer"],
      ["key-…", "admin"],
    ],
  );
  const shown = inspect(config, { depth: 9 }) + printConfig(table, config) + JSON.stringify(listSecrets(table, config));
  for (const key of [ANN, ROBOT, VIEWER, BARE]) assert.ok(!shown.includes(key), "a key can be seen");
  assert.equal(printConfig(table, config), "KEYS=***");
  assert.equal(readConfig({}, table, () => "").keys, null);
});

test("reads keys from a file", () => {
  const config = readConfig({ KEYS_FILE: "/run/keys" }, table, () => `ann:${ANN}\nrobot:${ROBOT}\n`);
  assert.deepEqual(
    config.keys?.map(({ name }) => name),
    ["ann", "robot"],
  );
});

const WRONG: readonly (readonly [text: string, says: RegExp])[] = [
  [",", /names no key/],
  [`ann:${ANN},robot:`, /entry 2 has no key/],
  [`ann:${ANN}:write`, /entry 1 is not of the form/],
  [`ann:${ANN}:read`, /entry 1 is not of the form/],
  [`ann:${ANN}:viewer:more`, /entry 1 is not of the form/],
  [`a/n:${ANN}`, /entry 1 has a name/],
  [`:${ANN}`, /entry 1 has a name/],
  [`ann:${"ü".repeat(20)}`, /entry 1 has a key with other characters/],
  [`ann:${"k".repeat(600)}`, /entry 1 has a key of more than/],
  [`ann:${ANN},robot:${ANN}`, /entries 1 and 2 have the same key/],
];

for (const [text, says] of WRONG) {
  test(`an invalid list reports the position, and not the content: ${says.source}`, () => {
    const read = (): unknown => readConfig({ KEYS: text }, table, () => "");
    assert.throws(read, (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, says);
      assert.ok(!error.message.includes(ANN));
      return true;
    });
  });
}

const access = createRoleAccess([apiKeySource(parseApiKeys(ALL))]);
const request = (headers: Record<string, string>) => ({ method: "GET", url: "/", headers });

const ACCEPTED: readonly (readonly [headers: Record<string, string>, name: RegExp])[] = [
  [{ "x-api-key": ANN }, /^ann$/],
  [{ authorization: `Bearer ${ROBOT}` }, /^robot$/],
  [{ authorization: `bearer  ${ROBOT}` }, /^robot$/],
  [{ "x-api-key": BARE }, /^key-[0-9a-f]{8}$/],
  [{ "x-api-key": "of another service", authorization: `Bearer ${ANN}` }, /^ann$/],
];

for (const [headers, name] of ACCEPTED) {
  test(`a request with ${Object.keys(headers).join(" and ")} comes from ${name.source}`, async () => {
    const caller = await access.authenticate(request(headers));
    assert.match(caller.name, name);
    assert.equal(caller.user?.["identity"], caller.name);
  });
}

const REFUSED: readonly Record<string, string>[] = [
  {},
  { "x-api-key": "" },
  { "x-api-key": ANN.slice(0, -1) },
  { "x-api-key": `${ANN}a` },
  { "x-api-key": ANN.toUpperCase() },
  { "x-api-key": `ann:${ANN}` },
  { "x-api-key": `${ANN}, ${ROBOT}` },
  { authorization: ANN },
  { authorization: `Basic ${ANN}` },
  { authorization: `Bearer ${ANN} ${ROBOT}` },
  { "x-api-key": "k".repeat(100_000) },
  { "x-auth-scheme": "langsmith" },
];

for (const headers of REFUSED) {
  test(`a request with ${inspect(headers).slice(0, 60)} has no caller`, async () => {
    await assert.rejects(access.authenticate(request(headers)), (error) => {
      assert.ok(error instanceof ApiError && error.code === "unauthenticated");
      assert.equal(error.headers["WWW-Authenticate"], "Bearer");
      return true;
    });
  });
}

for (const [key, role] of [
  [ANN, "admin"],
  [ROBOT, "reviewer"],
  [VIEWER, "viewer"],
] as const) {
  test(`a caller with the key of the ${role} has this role (api-keys.3)`, async () => {
    const caller = await access.authenticate(request({ "x-api-key": key }));
    assert.equal(caller.role, role);
    assert.equal(caller.user?.["role"], role);
    assert.ok(caller.permissions.includes(role));
  });
}
