// Tests of API keys. Checked: what the setting takes and refuses, without showing a key; who a request comes from;
// api-keys.1, nothing that is kept holds a key; api-keys.3, what a key that may only read is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ConfigError, printConfig, readConfig, secretsOf } from "../../base/config/config.ts";
import { ApiError } from "../../base/api-error.ts";
import { apiKeysSetting, createKeyAccess, parseApiKeys } from "./api-keys.ts";

const ANN = "k1-5f2c9a7be01d44c8";
const ROBOT = "k2-90ab12cd34ef56ab";
const VIEWER = "k3-7777aaaa8888bbbb";
const BARE = "k4-0123456789abcdef";
const ALL = `ann:${ANN},robot:${ROBOT}\n viewer:${VIEWER}:read ${BARE}`;
const table = { keys: apiKeysSetting("KEYS", "Keys.") } as const;

test("keys are read with names, rights and without; the configuration shows none of them (api-keys.1)", () => {
  const config = readConfig({ KEYS: ALL }, table, () => "");
  const kept = config.keys ?? [];
  assert.deepEqual(
    kept.map(({ name, readOnly }) => [name.replace(/[0-9a-f]{8}$/, "…"), readOnly]),
    [
      ["ann", false],
      ["robot", false],
      ["viewer", true],
      ["key-…", false],
    ],
  );
  const shown = inspect(config, { depth: 9 }) + printConfig(table, config) + JSON.stringify(secretsOf(table, config));
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
  [`ann:${ANN}:read:more`, /entry 1 is not of the form/],
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

const access = createKeyAccess(parseApiKeys(ALL));
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

const EVENTS: readonly (readonly [event: string, reads: boolean])[] = [
  ["threads:read", true],
  ["threads:search", true],
  ["store:get", true],
  ["store:list_namespaces", true],
  ["threads:create", false],
  ["threads:create_run", false],
  ["threads:update", false],
  ["threads:delete", false],
  ["store:put", false],
  ["anything:else", false],
];

for (const [event, reads] of EVENTS) {
  test(`a key that may only read is ${reads ? "let through to" : "refused"} ${event}; a full one may (api-keys.3)`, async () => {
    const value = { metadata: { a: 1 } };
    const may = async (key: string) =>
      access.authorize(await access.authenticate(request({ "x-api-key": key })), { event, value });
    assert.deepEqual(await may(ANN), { scope: null, value });
    if (reads) assert.deepEqual(await may(VIEWER), { scope: null, value });
    else await assert.rejects(may(VIEWER), (error) => error instanceof ApiError && error.code === "forbidden");
  });
}
