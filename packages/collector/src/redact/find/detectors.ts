// Detectors: e-mail addresses, payment card numbers, keys and tokens in a text; more kinds in the neighbouring files.
// Invariants:
//   detectors.1. Every detector is linear in the text: its patterns have fixed beginnings and bounded lengths.
import { findCards } from "./card-numbers.ts";
import { findIpAddresses } from "./ip-addresses.ts";
import { findIbans, findPhones, findSocialSecurityNumbers } from "./personal-numbers.ts";
import { merged, type Ranges } from "./ranges.ts";
import { findUnmarkedKeys } from "./unmarked-keys.ts";
import { endsEscaped } from "./separators.ts";

export const DETECTORS = ["email", "card", "token", "phone", "iban", "ip", "ssn"] as const;
export type Detector = (typeof DETECTORS)[number];

const LOCAL_CHARS_MAX = 64;
const DOMAIN_CHARS_MAX = 253;
const PASSWORD_CHARS_MAX = 256;
const LOCAL = /[\p{L}\p{N}.\uff0e+_-]/u;
const DOMAIN = /[\p{L}\p{N}.\uff0e-]/u;

/** "@", full-width, or as a URL or HTML writes it, also twice. */
const AT_SIGN = /[@\uff20]|%(?:25){0,4}40|&(?:amp;)?(?:#0{0,6}64|#[xX]0{0,6}40|commat);/g;
const AT_BEGINS = ["@", "\uff20", "%40", "%25", "&"] as const;

export function findEmails(text: string): Ranges {
  if (!AT_BEGINS.some((begin) => text.includes(begin))) return []; // most texts
  const found: number[] = [];
  for (const { index: at, 0: sign } of text.matchAll(AT_SIGN)) {
    const after = at + sign.length;
    let start = at;
    while (start > 0 && at - start < LOCAL_CHARS_MAX && LOCAL.test(text[start - 1] ?? "")) start--;
    let end = after;
    while (end < text.length && end - after < DOMAIN_CHARS_MAX && DOMAIN.test(text[end] ?? "")) end++;
    while (end > after && /[.\uff0e-]/.test(text[end - 1] ?? "")) end--;
    const domain = text.slice(after, end).replaceAll("\uff0e", ".");
    const isAddress = start < at && /^[^.-].*\.[\p{L}-]*\p{L}[\p{L}\d-]*$/u.test(domain);
    if (isAddress && start >= (found.at(-1) ?? 0)) found.push(start, end);
  }
  return found;
}

/** The first three of four characters of base64 of ASCII: few words begin so. */
const BASE64_OF_ASCII = "[I-Za-f][C-HS-Xi-nyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589]";

/** Prefixes of keys and tokens, each with the form of the rest. */
const TOKENS: readonly (readonly [begin: string, rest: string])[] = [
  ["sk-", "[\\w-]{16,512}"],
  ["gsk_", "[A-Za-z0-9]{20,255}"],
  ["xai-", "[A-Za-z0-9]{20,255}"],
  ["pplx-", "[A-Za-z0-9]{20,255}"],
  ["r8_", "[A-Za-z0-9]{30,255}"],
  ["tvly-", "[\\w-]{16,255}"],
  ["nvapi-", "[\\w-]{20,255}"],
  ["pcsk_", "\\w{20,255}"],
  ["sk_", "(?:live|test)_\\w{10,256}"],
  ["rk_", "(?:live|test)_\\w{10,256}"],
  ["gh", "[oprsu]_[A-Za-z0-9]{20,255}"],
  ["github_pat_", "\\w{20,255}"],
  ["glpat-", "[\\w-]{16,255}"],
  ["AKIA", "[0-9A-Z]{16}"],
  ["ASIA", "[0-9A-Z]{16}"],
  ["AIza", "[\\w-]{35}"],
  ["ya29.", "[\\w-]{20,2048}"],
  ["GOCSPX-", "[\\w-]{20,255}"],
  ["xox", "[abeprs]-[\\w-]{10,512}"],
  ["xapp-", "[\\w-]{20,512}"],
  ["shpat_", "[0-9a-fA-F]{32}"],
  ["dapi", "[0-9a-f]{32}"],
  ["do", "[opr]_v1_[0-9a-f]{32,64}"],
  ["hvs.", "[\\w-]{20,512}"],
  ["whsec_", "[A-Za-z0-9+/=]{20,255}"],
  ["hf_", "[A-Za-z0-9]{20,255}"],
  ["npm_", "[A-Za-z0-9]{30,255}"],
  ["pypi-", "[\\w-]{40,1024}"],
  ["dckr_", "[op]at_[\\w-]{20,255}"],
  ["ph", "[acrsx]_[A-Za-z0-9]{32,255}"],
  ["sntry", "[su]_[\\w=+/-]{32,1024}"],
  ["vercel_blob_rw_", "\\w{20,255}"],
  ["vck_", "[A-Za-z0-9]{20,255}"],
  ["fw_", "[A-Za-z0-9]{20,255}"],
  ["fc-", "[0-9a-f]{32}"],
  ["tgp_v1_", "[\\w-]{20,255}"],
  ["jina_", "[\\w-]{32,255}"],
  ["atlasv1.", "[\\w-]{40,255}"],
  ["pk-lf-", "[\\w-]{20,255}"],
  ["lsv2_", "\\w{20,255}"],
  ["ntn_", "[A-Za-z0-9]{40,255}"],
  ["secret_", "[A-Za-z0-9]{43}(?![A-Za-z0-9])"],
  ["SK", "[0-9a-f]{32}(?![0-9A-Za-z])"],
  ["AC", "[0-9a-f]{32}(?![0-9A-Za-z])"],
  ["AccountKey=", "[A-Za-z0-9+/%]{40,255}={0,2}"],
  ["SharedAccessKey=", "[A-Za-z0-9+/%]{40,255}={0,2}"],
  ["SG.", "[\\w-]{16,64}\\.[\\w-]{16,128}"],
  ["eyJ", "[\\w-]{8,4096}\\.[\\w-]{2,8192}(?:\\.[\\w-]{0,2048})?"],
  // The names of these schemes have any case.
  ...["B", "b"].flatMap((first): [string, string][] => [
    [first, "[Ee][Aa][Rr][Ee][Rr] [\\w.~+/-]{16,4096}={0,2}"],
    [first, "[Ee][Aa][Rr][Ee][Rr]%20[\\w.~+/%-]{16,4096}"],
    [first, `[Aa][Ss][Ii][Cc] ${BASE64_OF_ASCII}[A-Za-z0-9+/]{1,4096}={0,2}`],
    [first, `[Aa][Ss][Ii][Cc]%20${BASE64_OF_ASCII}[A-Za-z0-9+/]{1,4096}(?:%3[Dd]){0,2}`],
  ]),
  ["Basic ", "[A-Za-z0-9+/]{16,4096}={0,2}"],
];
const BASIC_CHARS_SURE = 16;

/** Grouped by their first characters: the engine looks at each character of a text once for all of them. */
const TOKEN = new RegExp(byFirstCharacter(TOKENS.map(([begin, rest]) => begin.replaceAll(".", "\\.") + rest)), "g");

function byFirstCharacter(patterns: readonly string[]): string {
  const groups = Map.groupBy(patterns, (pattern) => pattern.slice(0, 1));
  return [...groups].map(([first, all]) => `${first}(?:${all.map((one) => one.slice(1)).join("|")})`).join("|");
}

const PEM_HEAD = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /PRIVATE KEY(?: BLOCK)?-----/g;
const URL_START = "://";

export function findTokens(text: string): Ranges {
  const found: number[] = [];
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const { index } = token;
    const isInWord = /[A-Za-z0-9]/.test(text[index - 1] ?? "") && !endsEscaped(text, index);
    if (isInWord || isBasicWord(token[0])) TOKEN.lastIndex = index + 1;
    else found.push(index, TOKEN.lastIndex);
  }
  for (const { index, 0: head } of text.matchAll(PEM_HEAD)) {
    PEM_END.lastIndex = index + head.length;
    found.push(index, PEM_END.test(text) ? PEM_END.lastIndex : text.length); // one that was cut off goes whole
  }
  found.push(...passwordsInUrls(text), ...findUnmarkedKeys(text));
  return merged(found);
}

/**
 * "basic responsibilities": credentials are `user:password` in base64. Behind "Basic", sixteen characters are enough:
 * the rest may be cut off or in another encoding.
 */
function isBasicWord(token: string): boolean {
  const [, scheme = "", credentials = ""] = /^(basic)(?: |%20)([A-Za-z0-9+/]+)/i.exec(token) ?? [];
  const isLong = credentials.length >= BASIC_CHARS_SURE;
  if (scheme === "" || (scheme === "Basic" && isLong)) return false;
  const decoded = Buffer.from(credentials, "base64").toString("latin1");
  return !(isLong ? /^[^\0-\x1f\x7f]*:[^\0-\x1f\x7f]*$/ : /^[\x20-\x7e]*:[\x20-\x7e]*$/).test(decoded);
}

/** The password of `scheme://user:password@host`. */
function passwordsInUrls(text: string): Ranges {
  const found: number[] = [];
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    const before = text.slice(Math.max(0, at - PASSWORD_CHARS_MAX), at);
    const scheme = before.lastIndexOf(URL_START);
    const colon = scheme < 0 ? -1 : before.indexOf(":", scheme + URL_START.length);
    if (colon >= 0 && colon + 1 < before.length && !/[\s/"]/.test(before.slice(scheme + URL_START.length)))
      found.push(at - before.length + colon + 1, at);
  }
  return found;
}

export const FINDERS: Readonly<Record<Detector, (text: string) => Ranges>> = {
  email: findEmails,
  card: findCards,
  token: findTokens,
  phone: findPhones,
  iban: findIbans,
  ip: findIpAddresses,
  ssn: findSocialSecurityNumbers,
};
