// Tests of the config reader: config.1 (every problem at once, by name), config.2 (no silent default), config.3
// (secrets are never shown, and may come from a file).
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  boolean,
  choice,
  ConfigError,
  durationMs,
  integer,
  printConfig,
  readConfig,
  listSecrets,
  text,
  type ConfigProblem,
  type Env,
} from "./config.ts";

const CANARY = "canary-4f1c";
const FILES: Readonly<Record<string, string>> = {
  "/run/secrets/key": `${CANARY}\n`,
  "/run/secrets/empty": "\n",
  "/run/secrets/two-lines": `${CANARY}\n${CANARY}\n`,
};

function readFile(path: string): string {
  const found = FILES[path];
  if (found === undefined) throw new Error(`ENOENT: ${path}`);
  return found;
}

const meaning = "for the tests";
const TABLE = {
  count: integer("COUNT", 7, { min: -5, max: 100 }, { meaning, aliases: ["OLD_COUNT", "OLDER_COUNT"] }),
  big: integer("BIG", 0, { min: 0, max: Number.MAX_SAFE_INTEGER }, { meaning }),
  folder: text("FOLDER", "./data", { meaning }),
  url: text("URL", null, { meaning }),
  mode: choice("MODE", "fast", ["fast", "Slow"], { meaning }),
  verbose: boolean("VERBOSE", null, { meaning }),
  wait: durationMs("WAIT", 1000, { min: 10, max: 604_800_000 }, { meaning }),
  key: text("KEY", null, { meaning, secret: true, aliases: ["OLD_KEY"] }),
  pin: integer("PIN", 0, { min: 0, max: 9999 }, { meaning, secret: true }),
};
const DEFAULTS = {
  count: 7,
  big: 0,
  folder: "./data",
  url: null,
  mode: "fast",
  verbose: null,
  wait: 1000,
  key: null,
  pin: 0,
};

const ACCEPTED: readonly {
  readonly name: string;
  readonly env: Env;
  readonly gives: Readonly<Record<string, unknown>>;
}[] = [
  { name: "an empty environment gives the defaults", env: {}, gives: {} },
  { name: "an empty value counts as absent", env: { COUNT: "", FOLDER: "", WAIT: "", KEY: "" }, gives: {} },
  { name: "an unset value counts as absent", env: { COUNT: undefined }, gives: {} },
  { name: "an unknown variable is ignored", env: { PATH: "/bin", COUNTER: "x" }, gives: {} },
  { name: "zero is a number, not absence", env: { COUNT: "0" }, gives: { count: 0 } },
  { name: "minus zero is zero", env: { COUNT: "-0", BIG: "-0" }, gives: { count: 0, big: 0 } },
  { name: "the lower limit is inside", env: { COUNT: "-5" }, gives: { count: -5 } },
  { name: "the upper limit is inside", env: { COUNT: "100" }, gives: { count: 100 } },
  { name: "a plus sign and spaces around are fine", env: { COUNT: " +42 " }, gives: { count: 42 } },
  { name: "leading zeros are decimal", env: { COUNT: "010" }, gives: { count: 10 } },
  { name: "the largest exact integer is read", env: { BIG: "9007199254740991" }, gives: { big: 9007199254740991 } },
  { name: "text is taken as it stands", env: { FOLDER: " /a b/ü " }, gives: { folder: " /a b/ü " } },
  { name: "text without a default may be given", env: { URL: "http://x" }, gives: { url: "http://x" } },
  { name: "a choice is found", env: { MODE: "fast" }, gives: { mode: "fast" } },
  { name: "a choice ignores case and spaces", env: { MODE: " FAST " }, gives: { mode: "fast" } },
  { name: "a choice keeps its own spelling", env: { MODE: "slow" }, gives: { mode: "Slow" } },
  { name: "true", env: { VERBOSE: "true" }, gives: { verbose: true } },
  { name: "1", env: { VERBOSE: "1" }, gives: { verbose: true } },
  { name: "YES", env: { VERBOSE: "YES" }, gives: { verbose: true } },
  { name: "on, with spaces", env: { VERBOSE: " on " }, gives: { verbose: true } },
  { name: "false is not the default null", env: { VERBOSE: "false" }, gives: { verbose: false } },
  { name: "0", env: { VERBOSE: "0" }, gives: { verbose: false } },
  { name: "No", env: { VERBOSE: "No" }, gives: { verbose: false } },
  { name: "off", env: { VERBOSE: "off" }, gives: { verbose: false } },
  { name: "a bare duration is in milliseconds", env: { WAIT: "250" }, gives: { wait: 250 } },
  { name: "milliseconds", env: { WAIT: "250ms" }, gives: { wait: 250 } },
  { name: "seconds", env: { WAIT: "30s" }, gives: { wait: 30_000 } },
  { name: "minutes", env: { WAIT: "5m" }, gives: { wait: 300_000 } },
  { name: "hours", env: { WAIT: " 2h " }, gives: { wait: 7_200_000 } },
  { name: "days, up to the limit", env: { WAIT: "7d" }, gives: { wait: 604_800_000 } },
  { name: "an alias is read", env: { OLD_COUNT: "3" }, gives: { count: 3 } },
  { name: "the first alias wins", env: { OLDER_COUNT: "4", OLD_COUNT: "3" }, gives: { count: 3 } },
  { name: "the name wins over its aliases", env: { COUNT: "2", OLD_COUNT: "3" }, gives: { count: 2 } },
  { name: "an alias that loses is not read at all", env: { COUNT: "2", OLD_COUNT: "x" }, gives: { count: 2 } },
  { name: "an alias fills in for an empty name", env: { COUNT: "", OLD_COUNT: "3" }, gives: { count: 3 } },
  { name: "a secret is read", env: { KEY: "k" }, gives: { key: "k" } },
  {
    name: "a secret comes from a file, without its line end",
    env: { KEY_FILE: "/run/secrets/key" },
    gives: { key: CANARY },
  },
  { name: "the variable wins over its file", env: { KEY: "k", KEY_FILE: "/run/secrets/key" }, gives: { key: "k" } },
  { name: "the file wins over an alias", env: { KEY_FILE: "/run/secrets/key", OLD_KEY: "k" }, gives: { key: CANARY } },
  { name: "an alias has a file too", env: { OLD_KEY_FILE: "/run/secrets/key" }, gives: { key: CANARY } },
  { name: "an empty file name counts as absent", env: { KEY_FILE: "" }, gives: {} },
  { name: "a setting that is not secret has no file", env: { FOLDER_FILE: "/run/secrets/key" }, gives: {} },
];

for (const { name, env, gives } of ACCEPTED) {
  test(`accepted: ${name}`, () => {
    const config = readConfig(env, TABLE, readFile);
    assert.deepEqual(config, { ...DEFAULTS, ...gives });
    assert.ok(Object.isFrozen(config));
  });
}

const REFUSED: readonly { readonly name: string; readonly env: Env; readonly says: readonly ConfigProblem[] }[] = [
  ...["x", "NaN", "Infinity", "1.5", "1e3", "0x10", "1_000", "--1", "-", " ", "1 2"].map((value) => ({
    name: `"${value}" as a whole number`,
    env: { COUNT: value },
    says: [{ name: "COUNT", reason: `"${value}" is not a whole number` }],
  })),
  ...["-6", "101", "9007199254740993", "9".repeat(400)].map((value) => ({
    name: `${value.slice(0, 20)} outside the limits`,
    env: { COUNT: value },
    says: [{ name: "COUNT", reason: `${value} is outside -5 to 100` }],
  })),
  {
    name: "an integer that a double cannot hold",
    env: { BIG: "9007199254740992" },
    says: [{ name: "BIG", reason: "9007199254740992 is outside 0 to 9007199254740991" }],
  },
  { name: "blank text", env: { FOLDER: "  " }, says: [{ name: "FOLDER", reason: "is empty" }] },
  {
    name: "a line break in text",
    env: { URL: "a\nb" },
    says: [{ name: "URL", reason: "contains control characters" }],
  },
  { name: "a NUL in text", env: { URL: "a\u0000b" }, says: [{ name: "URL", reason: "contains control characters" }] },
  {
    name: "an unknown choice",
    env: { MODE: "warp" },
    says: [{ name: "MODE", reason: '"warp" is not one of fast, Slow' }],
  },
  {
    name: "a word that is neither true nor false",
    env: { VERBOSE: "maybe" },
    says: [{ name: "VERBOSE", reason: '"maybe" is neither true nor false' }],
  },
  ...["-5m", "1.5s", "5 m", "5M", "5w", "m", "soon", "+5"].map((value) => ({
    name: `"${value}" as a duration`,
    env: { WAIT: value },
    says: [{ name: "WAIT", reason: `"${value}" is not a duration: write 250ms, 30s, 5m, 2h, 7d or milliseconds` }],
  })),
  ...["9ms", "0", "8d", `${"9".repeat(400)}d`].map((value) => ({
    name: `the duration ${value.slice(0, 20)} outside the limits`,
    env: { WAIT: value },
    says: [{ name: "WAIT", reason: `${value} is outside 10 to 604800000 ms` }],
  })),
  {
    name: "an invalid alias is named itself",
    env: { OLD_COUNT: "x" },
    says: [{ name: "OLD_COUNT", reason: '"x" is not a whole number' }],
  },
  {
    name: "an invalid secret, without showing it (config.3)",
    env: { PIN: CANARY },
    says: [{ name: "PIN", reason: "the value is invalid (not shown)" }],
  },
  {
    name: "an invalid secret file, without showing it (config.3)",
    env: { KEY_FILE: "/run/secrets/two-lines" },
    says: [{ name: "KEY_FILE", reason: "the value is invalid (not shown)" }],
  },
  {
    name: "an empty secret file",
    env: { KEY_FILE: "/run/secrets/empty" },
    says: [{ name: "KEY_FILE", reason: "the value is invalid (not shown)" }],
  },
  {
    name: "a missing secret file, although an alias is set",
    env: { KEY_FILE: "/nowhere", OLD_KEY: "k" },
    says: [{ name: "KEY_FILE", reason: "cannot read the file" }],
  },
  {
    name: "all problems at once, in table order (config.1)",
    env: { PIN: "x", WAIT: "x", COUNT: "x", FOLDER: "fine", KEY_FILE: "/nowhere" },
    says: [
      { name: "COUNT", reason: '"x" is not a whole number' },
      { name: "WAIT", reason: '"x" is not a duration: write 250ms, 30s, 5m, 2h, 7d or milliseconds' },
      { name: "KEY_FILE", reason: "cannot read the file" },
      { name: "PIN", reason: "the value is invalid (not shown)" },
    ],
  },
];

for (const { name, env, says } of REFUSED) {
  test(`rejected: ${name}`, () => {
    assert.throws(
      () => readConfig(env, TABLE, readFile),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual(error.problems, says); // config.1, config.2
        assert.equal(error.message, says.map((problem) => `${problem.name}: ${problem.reason}`).join("\n"));
        assert.ok(!`${error.stack}`.includes(CANARY)); // config.3
        return true;
      },
    );
  });
}

test("the printed configuration has one line a setting and shows no secret (config.3)", () => {
  const config = readConfig({ KEY: CANARY, PIN: "4711", VERBOSE: "no", URL: "http://x" }, TABLE, readFile);
  assert.deepEqual(printConfig(TABLE, config).split("\n"), [
    "COUNT=7",
    "BIG=0",
    "FOLDER=./data",
    "URL=http://x",
    "MODE=fast",
    "VERBOSE=false",
    "WAIT=1000",
    "KEY=***",
    "PIN=***",
  ]);
});

test("an unset secret prints as empty, so that a reader sees the gap", () => {
  const lines = printConfig(TABLE, readConfig({}, TABLE, readFile)).split("\n");
  assert.ok(lines.includes("KEY="));
});

test("the log gets every secret text, and nothing else", () => {
  assert.deepEqual(listSecrets(TABLE, readConfig({ KEY: CANARY, URL: "http://x" }, TABLE, readFile)), [CANARY]);
  assert.deepEqual(listSecrets(TABLE, readConfig({}, TABLE, readFile)), []);
});

test("a setting describes its default", () => {
  assert.deepEqual(
    Object.values(TABLE).map((one) => one.fallbackText),
    ["7", "0", "./data", "none", "fast", "none", "1s", "none", "0"],
  );
});
