// Tests of the log: log.1 (a secret never appears), log.2 (logging never throws), log.3 (fields change neither the head
// of a line nor the terminal), and both forms of a line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, LOG_LEVELS, mask, type Log, type LogOptions } from "./log.ts";

const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function open(options: Partial<LogOptions> = {}): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (line: string): unknown => lines.push(line);
  return { lines, log: createLog({ level: "debug", json: true, secrets: [], now: () => AT_MS, write, ...options }) };
}

test("a JSON line has time, level, event and the fields, in this order, and ends with a line feed", () => {
  const { log, lines } = open();
  log.info("run_finished", { run_id: "r1", duration_ms: 12, ok: true, nothing: null });
  assert.deepEqual(lines, [
    '{"time":"2026-01-02T03:04:05.678Z","level":"info","event":"run_finished","run_id":"r1","duration_ms":12,"ok":true,"nothing":null}\n',
  ]);
});

const READABLE: readonly { readonly name: string; readonly fields: Record<string, unknown>; readonly shown: string }[] =
  [
    { name: "no fields", fields: {}, shown: "" },
    { name: "a plain word", fields: { id: "r1" }, shown: " id=r1" },
    { name: "a text with a space", fields: { why: "not now" }, shown: ' why="not now"' },
    { name: "a text that looks like a field", fields: { why: "a=b" }, shown: ' why="a=b"' },
    { name: "a line break, kept on the line", fields: { why: "a\nb" }, shown: String.raw` why="a\nb"` },
    { name: "a number and null", fields: { n: 1.5, none: null }, shown: " n=1.5 none=null" },
    { name: "an object", fields: { o: { a: [1] } }, shown: ' o={"a":[1]}' },
    { name: "undefined", fields: { u: undefined }, shown: " u=undefined" },
    {
      name: "an escape sequence, made harmless (log.3)",
      fields: { x: "\u001b[2J" },
      shown: String.raw` x="\u001b[2J"`,
    },
    {
      name: "an eight-bit control character, made harmless (log.3)",
      fields: { x: "\u009b2J" },
      shown: String.raw` x=\u009b2J`,
    },
  ];

for (const { name, fields, shown } of READABLE) {
  test(`a readable line shows ${name}`, () => {
    const { log, lines } = open({ json: false });
    log.warning("it_happened", fields);
    assert.deepEqual(lines, [`03:04:05.678 warning it_happened${shown}\n`]);
  });
}

for (const level of LOG_LEVELS) {
  test(`at level ${level}, only lines at least as severe are written`, () => {
    const { log, lines } = open({ level });
    for (const each of LOG_LEVELS) log[each](each);
    const written = lines.map((line) => (JSON.parse(line) as { readonly level: string }).level);
    assert.deepEqual(written, LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)));
  });
}

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const HARD_FIELDS: readonly { readonly name: string; readonly value: unknown; readonly shown: unknown }[] = [
  { name: "a big integer", value: 2n ** 70n, shown: "1180591620717411303424" },
  { name: "an error", value: new TypeError("bad"), shown: "TypeError: bad" },
  { name: "an error deep inside", value: [{ cause: new RangeError("far") }], shown: [{ cause: "RangeError: far" }] },
  { name: "an invalid date", value: new Date(Number.NaN), shown: null },
  { name: "a function", value: () => 1, shown: undefined },
];

for (const { name, value, shown } of HARD_FIELDS) {
  test(`${name} as a field appears as far as possible (log.2)`, () => {
    const { log, lines } = open();
    log.error("it_happened", { value });
    assert.deepEqual((JSON.parse(lines.join("")) as { readonly value: unknown }).value, shown);
  });
}

const IMPOSSIBLE_FIELDS: Readonly<Record<string, unknown>> = {
  "a cycle": cyclic,
  "a getter that throws": {
    get trap(): never {
      throw new Error("trap");
    },
  },
};

for (const [name, value] of Object.entries(IMPOSSIBLE_FIELDS)) {
  for (const json of [true, false]) {
    test(`${name} as a field never throws and is reported (log.2, ${json ? "JSON" : "readable"})`, () => {
      const { log, lines } = open({ json });
      log.info("it_happened", { value });
      assert.deepEqual(lines, ['{"level":"error","event":"log_failed","of":"it_happened"}\n']);
    });
  }
}

test("an output that fails never throws into the caller (log.2)", () => {
  let calls = 0;
  const { log } = open({
    write: () => {
      calls += 1;
      throw new Error("EPIPE");
    },
  });
  log.info("it_happened");
  assert.ok(calls > 0);
});

test("a clock that fails never throws into the caller (log.2)", () => {
  const { log, lines } = open({ now: () => Number.NaN });
  log.info("it_happened");
  assert.equal(lines.length, 1);
});

test("fields named time, level or event do not replace the line's own (log.3)", () => {
  const { log, lines } = open();
  log.error("it_happened", { time: "never", level: "debug", event: "nothing", id: 1 });
  assert.deepEqual(lines, ['{"time":"2026-01-02T03:04:05.678Z","level":"error","event":"it_happened","id":1}\n']);
});

const CANARY = 'canary "4f1c" \\ü';
const HIDING_PLACES: readonly { readonly name: string; readonly fields: Record<string, unknown> }[] = [
  { name: "a field", fields: { key: CANARY } },
  { name: "the middle of a text", fields: { header: `Bearer ${CANARY}, more` } },
  { name: "a nested object", fields: { request: { headers: [{ value: CANARY }] } } },
  { name: "an error's message", fields: { error: new Error(`refused: ${CANARY}`) } },
  { name: "a field's name", fields: { [CANARY]: 1 } },
];

for (const json of [true, false]) {
  for (const { name, fields } of HIDING_PLACES) {
    test(`a secret in ${name} is masked (log.1, ${json ? "JSON" : "readable"})`, () => {
      const { log, lines } = open({ json, secrets: [CANARY] });
      log.info("it_happened", fields);
      assert.match(lines.join(""), /\*\*\*/);
      assert.doesNotMatch(lines.join(""), /4f1c/);
    });
  }
}

const MASKS: readonly { readonly name: string; readonly secrets: readonly string[]; readonly gives: string }[] = [
  { name: "no secrets", secrets: [], gives: "abcdef abc" },
  { name: "an empty secret masks nothing", secrets: [""], gives: "abcdef abc" },
  { name: "every place is masked", secrets: ["abc"], gives: "***def ***" },
  { name: "a secret that begins another leaves nothing of it", secrets: ["abc", "abcdef"], gives: "*** ***" },
  { name: "the same in the other order", secrets: ["abcdef", "abc"], gives: "*** ***" },
  { name: "a secret is text, not a pattern", secrets: ["a.c", "$&"], gives: "abcdef abc" },
];

for (const { name, secrets, gives } of MASKS) {
  test(`mask: ${name} (log.1)`, () => assert.equal(mask("abcdef abc", secrets), gives));
}
