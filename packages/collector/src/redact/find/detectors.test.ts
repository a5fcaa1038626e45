// Detectors: keys of many providers, and forms in which texts have them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, constantFrom, oneof, property, string, type Arbitrary } from "fast-check";
import { FINDERS, type Detector } from "./detectors.ts";

const PROVIDER_KEYS: readonly string[] = [
  `gsk_${"aB3d".repeat(13)}`,
  `xai-${"aB3d".repeat(20)}`,
  `pplx-${"aB3d".repeat(12)}`,
  `r8_${"aB3d".repeat(9)}`,
  `tvly-dev-${"aB3d".repeat(8)}`,
  `nvapi-${"aB3d".repeat(16)}`,
  `pcsk_${"aB3d".repeat(16)}`,
  `ya29.${"aB3d".repeat(30)}`,
  `GOCSPX-${"aB3d".repeat(7)}`,
  `xapp-1-A012345678-1234567890-${"ab3d".repeat(16)}`,
  `shpat_${"ab3d".repeat(8)}`,
  `dapi${"ab3d".repeat(8)}`,
  `dop_v1_${"ab3d".repeat(16)}`,
  `hvs.${"aB3d".repeat(24)}`,
  `whsec_${"aB3d".repeat(8)}`,
  `pypi-AgEIcHlwaS5vcmc${"aB3d".repeat(12)}`,
  `dckr_pat_${"aB3d".repeat(6)}-_x`,
  `dckr_oat_${"aB3d".repeat(8)}`,
  `dor_v1_${"ab3d".repeat(16)}`,
  `phc_${"aB3d".repeat(10)}x`,
  `phx_${"aB3d".repeat(10)}x`,
  `sntrys_${"aB3d".repeat(20)}=_${"aB3d".repeat(10)}`,
  `vercel_blob_rw_${"aB3d".repeat(4)}_${"aB3d".repeat(8)}`,
  `vck_${"aB3d".repeat(14)}`,
  `fw_${"aB3d".repeat(6)}`,
  `fc-${"ab3d".repeat(8)}`,
  `tgp_v1_${"aB3d".repeat(10)}`,
  `jina_${"aB3d".repeat(15)}`,
  `atlasv1.${"aB3d".repeat(16)}`,
  `pk-lf-${"ab3d".repeat(2)}-1234-5678-9abc-${"ab3d".repeat(3)}`,
  `ntn_${"aB3d".repeat(11)}xy`,
  `secret_${"aB3d".repeat(10)}xyz`,
  `SK${"ab3d".repeat(8)}`,
  `AC${"ab3d".repeat(8)}`,
];

const PGP_KEY = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----";
const TOKEN = "sk-canary0123456789abcdef";

const AWS_SECRET = `wJalrX/Ut7nFEMIK7MDENGbPxRfiCYzQ3+kTg2vH9`.slice(0, 40);
/** Known only by the name before it. */
const WORDY_SECRET = `Examplewords${"aB3d".repeat(7)}`;
const AZURE_KEY = `${"aB3dE/f7".repeat(10)}aB3dE/==`;

const CARD_SEPARATORS: readonly string[] = [
  ..."\u00a0|\u2007|\u2009|\u202f|\u2011|\u2013|\u2212|\u00ad|\u200b|\u2060|\u3000|\ufeff".split("|"),
  ...String.raw`\u00a0|\u202f|\\u2009|\xa0|%20|%C2%A0|%E2%80%AF`.split("|"),
];

const AT_SIGNS = "@ ＠ %40 %2540 %252540 &#64; &#064; &#x40; &#X0040; &commat; &amp;#64; &amp;commat;".split(" ");

/** What the detector finds in the text. */
const CASES: readonly (readonly [what: string, detector: Detector, text: string, found: readonly string[]])[] = [
  ...AT_SIGNS.map((sign): [string, Detector, string, readonly string[]] => {
    const mail = `ann.b+c${sign}mail.example.com`;
    return [`an address with ${sign}`, "email", `to ${mail}, x`, [mail]];
  }),
  [
    "an address in full-width letters",
    "email",
    "宛先 ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ。",
    ["ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ"],
  ],
  ["no address at other escapes", "email", "a%2541b.com a&#65;b.com a&amp;b.com 40%40.5", []],
  ["a card number in a query", "card", "?pan%3D4111111111111111&n=1", ["4111111111111111"]],
  ["one behind an encoded space", "card", "?q=pan%204111111111111111", ["4111111111111111"]],
  ["one behind a percent sign", "card", "100%4111111111111111", ["4111111111111111"]],
  ["no card number inside a word", "card", "id3D4111111111111111", []],
  ...CARD_SEPARATORS.map((by): [string, Detector, string, readonly string[]] => {
    const card = ["3782", "822463", "10005"].join(by);
    return [`a card number grouped by ${JSON.stringify(by)}`, "card", `card ${card}, x`, [card]];
  }),
  ["digits that a wide gap separates", "card", "4111  1111 1111 1111", []],
  ["a list of years", "card", "1914\u20131918, 1939\u20131945, 1950\u20131953", []],
  ["credentials behind a lower-case scheme", "token", "authorization: basic dXNlcjpwYXNz", ["basic dXNlcjpwYXNz"]],
  ["short ones, in any case", "token", "BASIC YTpi.", ["BASIC YTpi"]],
  ["short ones in a query", "token", "?h=basic%20YWRtaW46YWRtaW4%3D&n", ["basic%20YWRtaW46YWRtaW4%3D"]],
  ["a token behind a scheme in any case", "token", "bEARER canary0123456789", ["bEARER canary0123456789"]],
  ["words behind basic", "token", "basic responsibilities, Basic income, basic idea, basic internationalization", []],
  ["a key in a query", "token", `?k%3D${TOKEN}`, [TOKEN]],
  ["a header in a query", "token", `?h=Bearer%20${TOKEN}`, [`Bearer%20${TOKEN}`]],
  ["a header in capitals", "token", "BEARER canary0123456789", ["BEARER canary0123456789"]],
  ["no key inside a word", "token", "task-canary0123456789abcdef", []],
  ["a key behind such a word", "token", `task-${TOKEN}`, [TOKEN]],
  ["a PGP key", "token", PGP_KEY, [PGP_KEY]],
  ["an AWS secret key alone", "token", AWS_SECRET, [AWS_SECRET]],
  ["one in a sentence", "token", `the key ${AWS_SECRET}.`, [AWS_SECRET]],
  ...[
    'aws_secret_access_key = "?"',
    "AWS_SECRET_ACCESS_KEY=?",
    '{"SecretAccessKey": "?"}',
    "secretAccessKey: '?',",
  ].map((form): [string, Detector, string, readonly string[]] => [
    `one in ${form}`,
    "token",
    form.replace("?", WORDY_SECRET),
    [WORDY_SECRET],
  ]),
  ["an Azure account key alone", "token", `key ${AZURE_KEY}, x`, [AZURE_KEY]],
  [
    "one in a connection string",
    "token",
    `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${AZURE_KEY};x=y`,
    [`AccountKey=${AZURE_KEY}`],
  ],
  ["a Twilio auth token by its name", "token", `TWILIO_AUTH_TOKEN=${"ab3d".repeat(8)}`, ["ab3d".repeat(8)]],
  ["the hash of a commit", "token", "commit 0408d368d204480075b7ae4dfcb7685db29a9e3c", []],
  ["a checksum of a package", "token", `"integrity": "sha512-${AZURE_KEY}"`, []],
  ["other base64 of 40 characters in longer base64", "token", `${AWS_SECRET}${AWS_SECRET}`, []],
  ["a path of 40 characters", "token", "Src/Collector1/Translations/Conventions/".padEnd(40, "x"), []],
  ["an MD5 sum", "token", `md5 ${"ab3d".repeat(8)}`, []],
  ["a name that begins like a key", "token", "secret_name_of_a_field, AC, SKU12345", []],
];

describe("detectors find", () => {
  for (const [what, detector, text, wanted] of CASES) test(what, () => assert.deepEqual(found(detector, text), wanted));
  for (const key of PROVIDER_KEYS)
    test(`a key that begins with ${key.slice(0, 5)}`, () => assert.deepEqual(found("token", `key ${key}.`), [key]));
});

const KEY_CHARACTER = constantFrom(...Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"));
/** Runs of about a key's length, words, and what stands between them. */
const PIECE = oneof(
  constantFrom(31, 39, 40, 41, 86).chain((length) => writeRun(length, length)),
  writeRun(0, 9),
  constantFrom(" ", ", ", "\n", '": "', "ü", "日本"),
);

function writeRun(minLength: number, maxLength: number): Arbitrary<string> {
  return string({ unit: KEY_CHARACTER, minLength, maxLength });
}

test("the AWS secrets in any text are those that a search character by character finds", () => {
  check(
    property(array(PIECE, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      assert.deepEqual(found("token", text), searchPlainly(text));
    }),
    { numRuns: 1000, verbose: 1 }, // a failure prints its seed and path
  );
});

/** As the detector describes them, without its short cuts. */
function searchPlainly(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w+/])[A-Za-z\d+/]{40}(?![\w+/])/g)]
    .map(([run]) => run)
    .filter((run) => /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run))
    .filter((run) => !/[a-z]{8}|[A-Z]{14}/.test(run) && new Set(run).size >= 20);
}

function found(detector: Detector, text: string): readonly string[] {
  const ranges = FINDERS[detector](text);
  return ranges.flatMap((start, index) => (index % 2 === 0 ? [text.slice(start, ranges[index + 1])] : []));
}
