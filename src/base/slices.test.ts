// Tests of sliced work, and of JSON parsed in slices: slices.1, slices.2, slices.3, parse-in-slices.1, parse-in-slices.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseInSlices, PLAIN_UNITS_MAX, TooDeepError, TooWideError } from "./parse-in-slices.ts";
import { inSlice } from "./slices.ts";

test("work runs in order, one slice a turn, with other work of the loop between (slices.1, slices.2)", async () => {
  const done: number[] = [];
  let turns = 0;
  const count = (): void => {
    turns++;
    if (done.length < 20) setImmediate(count);
  };
  setImmediate(count);
  const busy = (at: number) => (): void => {
    for (const until = performance.now() + 11; performance.now() < until;);
    done.push(at);
  };
  await Promise.all(Array.from({ length: 20 }, (_, at) => inSlice(busy(at))));
  assert.deepEqual(
    done,
    Array.from({ length: 20 }, (_, at) => at),
  );
  assert.ok(turns >= 19, `${turns} turns`);
  await assert.rejects(
    inSlice(() => assert.fail("mine")),
    /mine/,
  );
});

test("a short piece runs at once, unless another one waits or the time of the turn is used (slices.3)", async () => {
  await new Promise(setImmediate); // a new turn
  await new Promise(setImmediate);
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  const first = inSlice(note("first"));
  assert.deepEqual(done, ["first"]);
  const busy = inSlice(() => {
    for (const until = performance.now() + 11; performance.now() < until;);
  });
  const late = inSlice(note("late"));
  assert.deepEqual(done, ["first"]);
  const later = inSlice(note("later"));
  await Promise.all([first, busy, late, later]);
  assert.deepEqual(done, ["first", "late", "later"]);
});

const PAD = JSON.stringify("x".repeat(PLAIN_UNITS_MAX / 4));

/** Long enough to be read in slices, with the text in every place where a text is cut. */
const padded = (text: string): string =>
  `{"first": ${text}, "pad":${PAD},"list":[${text},[${PAD}, ${text} ,${PAD},${text}], {"pad":${PAD},"last":${text}}] , "last":${text}}`;

test("a long text parses as with JSON.parse (parse-in-slices.1)", async () => {
  const odd = [
    '{"__proto__":{"a":1},"a":1,"a":2}',
    '"\\\\"',
    '["\\"","\\u0041\\ud800"]',
    "-0",
    "[]",
    "{}",
    " [ { } , [ ] ] ",
  ];
  for (const text of odd) assert.deepEqual(await parseInSlices(padded(text), 500), JSON.parse(padded(text)), text);
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 6 }), async (text) => {
      assert.deepEqual(await parseInSlices(padded(text), 500), JSON.parse(padded(text)));
    }),
    { numRuns: 50 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("invalid long JSON fails as with JSON.parse (parse-in-slices.1)", async () => {
  const wrong = [
    "",
    "[",
    "[1",
    "[1,]",
    "{",
    '{"a"',
    '{"a":}',
    '{"a":1,}',
    "{a:1}",
    "[1 2]",
    "01",
    "1.",
    "+1",
    "tru",
    '"a',
    '"\n"',
    '"\\x"',
    "1 1",
    "1,,1",
    "1]",
    "1}",
    '1 "a":[1]',
    ",1",
    "1,",
    "[1}",
    "[]]",
    "nul",
    "'a'",
  ];
  for (const text of wrong) {
    const long = [`[${PAD},${PAD},[${text}],${PAD},${PAD}]`, `[${PAD},${PAD},${text},[${PAD},${PAD}]]`, padded(text)];
    for (const whole of long.filter((one) => !isJson(one)))
      await assert.rejects(parseInSlices(whole, 500), SyntaxError, `${text}: ${whole.replaceAll(PAD, "PAD")}`);
    assert.ok(!isJson(padded(text)), text);
  }
});

test("the loop turns while a long text is parsed (parse-in-slices.2)", async (t) => {
  const value = Array.from({ length: 60_000 }, (_, at) => ({ at, name: `row ${at}`, inner: { list: [at, null] } }));
  let [turns, last, worst] = [0, performance.now(), 0];
  let reading = true;
  const count = (): void => {
    turns++;
    worst = Math.max(worst, performance.now() - last);
    last = performance.now();
    if (reading) setImmediate(count);
  };
  setImmediate(count);
  const text = JSON.stringify(value);
  assert.deepEqual(await parseInSlices(text, 500), value);
  reading = false;
  t.diagnostic(`${(text.length / 1e6).toFixed(1)} MB in ${turns} turns, the longest ${Math.round(worst)} ms`);
  assert.ok(turns >= 5, `${turns} turns`);
});

test("excessive nesting fails, in short and in long texts (parse-in-slices.4)", async () => {
  for (const [text, fits] of [
    ['{"a":[{}]}', true],
    ['{"a":[{"b":1}],"c":[[],{"d":0}]}', true],
    ['{"a":[{"b":[]}]}', false],
    ["[[[[]]]]", false],
  ] as const)
    for (const [given, levels] of [
      [text, 3],
      [`{"pad":[${PAD},${PAD},${PAD},${PAD}],"at":${text}}`, 4],
      [`{"pad":1,"at":[${text},${PAD},${PAD},${PAD},${PAD}]}`, 5],
    ] as const) {
      if (fits) assert.deepEqual(await parseInSlices(given, levels), JSON.parse(given));
      else await assert.rejects(parseInSlices(given, levels), TooDeepError, text);
    }
});

test("an object of a long text has at most `membersMax` members (parse-in-slices.5)", async () => {
  const members = (count: number): string => Array.from({ length: count }, (_, at) => `"key ${at}":${at}`).join(",");
  const text = (count: number): string => `{"pad":"${"x".repeat(PLAIN_UNITS_MAX)}","wide":{${members(count)}}}`;
  const fits = text(20_000);
  assert.deepEqual(await parseInSlices(fits, 500, 20_000), JSON.parse(fits));
  await assert.rejects(parseInSlices(text(20_001), 500, 20_000), TooWideError);
});
