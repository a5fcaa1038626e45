// Detectors of phone numbers, IBANs, IP addresses and US social security numbers: forms that they find, look-alikes that
// they leave, and their time on long texts.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { type Detector, DETECTORS, FINDERS } from "./detectors.ts";

/** Each is found whole, alone, inside a sentence, in quotes, and at the end of one. */
const FOUND: Readonly<Record<Exclude<Detector, "card" | "email" | "token">, readonly string[]>> = {
  phone: [
    "+14155552671",
    "+1 415 555 2671",
    "+1 (415) 555-2671",
    "+1-415-555-2671",
    "%2B14155552671",
    "+49 30 901820",
    "+49 (0)30 901820",
    "+44 20 7946 0958",
    "+33 6 12 34 56 78",
    "+81-3-1234-5678",
    "+55 11 91234-5678",
    "0049 30 901820",
    "tel:+1-415-555-2671",
    "(415) 555-2671",
    "415-555-2671",
    "415.555.2671",
    "415 555 2671",
    "1-800-555-0199",
    "06 12 34 56 78",
    "020 7946 0958",
    "0171/1234567",
    "(030) 901820",
    "+1\u00a0415\u2011555\u20112671",
  ],
  iban: [
    "DE89370400440532013000",
    "DE89 3704 0044 0532 0130 00",
    "de89 3704 0044 0532 0130 00",
    "GB82 WEST 1234 5698 7654 32",
    "FR14 2004 1010 0505 0001 3M02 606",
    "CH93-0076-2011-6238-5295-7",
    "NO93 8601 1117 947",
    "MT84MALT011000012345MTLCAST001S",
    "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
    String.raw`DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000`,
  ],
  ip: [
    "192.168.0.1",
    "8.8.8.8",
    "255.255.255.255",
    "127.0.0.1",
    "2001:db8::1",
    "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    "fe80::1",
    "::1",
    "::ffff:192.168.0.1",
    "2001%3Adb8%3A%3A1",
  ],
  ssn: ["123-45-6789", "123 45 6789", "856-45-6789", "123\u201145\u20116789"],
};

const AROUND: readonly (readonly [before: string, after: string])[] = [
  ["", ""],
  ["write to ", " today"],
  ["(", ")"],
  ['{"a":"', '"}'],
  ["is ", "."],
  ["a, ", ", b"],
  ["is: ", "\n"],
  ["x=", "&y"],
];

/** What the detector finds in texts that are more, or less. */
const ROWS: readonly (readonly [detector: Detector, text: string, found: readonly string[]])[] = [
  ["ip", "http://10.0.0.1:8080/a and 10.0.0.2/24", ["10.0.0.1", "10.0.0.2"]],
  ["ip", "http://[2001:db8::1]:80/ and fe80::1%eth0", ["2001:db8::1", "fe80::1"]],
  ["ip", "host/10.0.0.1 node:2001:db8::1 src=10.0.0.3", ["10.0.0.1", "2001:db8::1", "10.0.0.3"]],
  ["ip", "ssh-10.0.0.1-key", ["10.0.0.1"]],
  ["ssn", "SSN: 123456789", ["123456789"]],
  ["ssn", '{"social_security_number": "123456789"}', ["123456789"]],
  ["ssn", "social security number is 123-45-6789", ["123-45-6789"]],
  ["phone", "call 415-555-2671 or +1 415 555 2672", ["415-555-2671", "+1 415 555 2672"]],
];

/** Look-alikes, in which the detector finds nothing. */
const LEFT: Readonly<Record<keyof typeof FOUND, readonly string[]>> = {
  phone: [
    "2026-11-27T15:04:05.123Z",
    "27.11.2026 15:04",
    "01/02/2026 10:30",
    "01-02-2026",
    "1732170000123",
    "4155552671",
    "1.2.3.4",
    "192.168.100.200",
    "4111 1111 1111 1111",
    "DE89 3704 0044 0532 0130 00",
    "GB82 WEST 1234 5698 7654 32 and FR14 2004 1010 0505 0001 3M02 606",
    "123-45-6789",
    "978-3-16-148410-0",
    "call_415-555-26712345",
    "550e8400-e29b-41d4-a716-446655440000",
    "v415.555.2671",
    "0.1234567890",
    "1 + 2 + 3 = 6",
    "+5",
    "x+1234567",
    "lines 100-200, 300-400",
    "[0.0171 0.0234567, 0.03 1234567]",
    "00 12 34 56 78 90",
    "$1,234,567.89",
  ],
  iban: [
    "DE89370400440532013001",
    "DE89 3704 0044 0532 0130",
    "XX89370400440532013000",
    "aDE89370400440532013000",
    "GB82",
    "US64SVBKUS6S3300958879",
  ],
  ip: [
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "v1.2.3.4",
    "version 1.2.3.4",
    "Mozilla/5.0 Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0",
    "12:30:45",
    "10:30:45.123",
    "std::vector<int>, a::b, add::face, ::",
    "x[1::2] + y[::2] and f()[3::4]",
    "aa:bb:cc:dd:ee:ff",
    "1.1.1.1a",
    "12:34::56:78::90",
    "::::",
  ],
  ssn: [
    "000-45-6789",
    "666-45-6789",
    "900-45-6789",
    "123-00-6789",
    "123-45-0000",
    "123456789",
    "123-45-67890",
    "1123-45-6789",
    "123-45 6789",
    "2026-11-2712",
    "0-123-45-6789",
    "123-45-6789-01",
    "order 123456789",
  ],
};

describe("detectors find", () => {
  for (const [detector, texts] of Object.entries(FOUND) as [Detector, readonly string[]][])
    for (const text of texts)
      test(`${detector}: ${text}`, () => {
        for (const [before, after] of AROUND)
          assert.deepEqual(find(detector, before + text + after), [text], before + text + after);
      });
  for (const [detector, text, wanted] of ROWS)
    test(`${detector} in ${text}`, () => assert.deepEqual(find(detector, text), wanted));
});

describe("detectors leave", () => {
  for (const [detector, texts] of Object.entries(LEFT) as [Detector, readonly string[]][])
    for (const text of texts) test(`${detector}: ${text}`, () => assert.deepEqual(find(detector, text), []));
});

test("the spans of all senders that tests keep hold no phone number, IBAN or social security number", () => {
  const files = globSync("packages/collector/src/translate/**/*.test.ts");
  const texts = files.map((path) => readFileSync(path, "utf8"));
  assert.ok(texts.join("").length > 200_000, "enough was searched");
  for (const detector of ["phone", "iban", "ssn"] as const)
    assert.deepEqual(
      texts.flatMap((text) => find(detector, text)),
      [],
      detector,
    );
});

const HOSTILE: readonly string[] = [
  "1 ",
  "+1",
  "1-",
  "(415) ",
  "00",
  "0 1",
  "%2B",
  "a:",
  "::",
  "1:",
  "1.",
  "%3A",
  "DE89",
  "DE89 ",
  "A1",
  "aB3/",
  "ssn ",
  "ssn:",
  "twilio ",
  "secret_access_key",
  "\\u00a0",
  "=",
  "AccountKey=",
  "1\u2011",
];

// A quadratic pattern needs minutes for these texts.
describe("a hundred thousand characters are searched in one pass (detectors.1)", () => {
  for (const part of HOSTILE)
    test(JSON.stringify(part), { timeout: 30_000 }, () => {
      const text = part.repeat(Math.ceil(100_000 / part.length));
      for (const detector of DETECTORS) FINDERS[detector](text);
    });
});

function find(detector: Detector, text: string): readonly string[] {
  const ranges = FINDERS[detector](text);
  return ranges.flatMap((start, index) => (index % 2 === 0 ? [text.slice(start, ranges[index + 1])] : []));
}
