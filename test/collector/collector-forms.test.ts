// The forms of content and the senders in docs/reference/collector.md are those of the tables.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { BLOCK_FORMS } from "@holdpoint/collector/translate/forms/block-forms.ts";
import { ENVELOPES } from "@holdpoint/collector/translate/forms/envelopes.ts";

const PAGE = readFileSync(new URL("../../docs/reference/collector.md", import.meta.url), "utf8");
const CONVENTIONS = new URL("../../packages/collector/src/translate/conventions/", import.meta.url);

/** Lists names: of several spellings the one with underscores. */
function listNames(names: readonly string[]): string {
  const joined = new Set(names.filter((name) => name.includes("_")).map((name) => name.replaceAll("_", "")));
  const plain = names.filter((name) => !/[A-Z-]/.test(name) && !joined.has(name));
  return plain.length === 0 ? "none" : plain.map((name) => `\`${name}\``).join(", ");
}

function listSenders(): readonly string[] {
  return readdirSync(CONVENTIONS).flatMap((file) =>
    [...readFileSync(new URL(file, CONVENTIONS), "utf8").matchAll(/^describe\("([^"]+)"/gm)].map(
      ([, name]) => name ?? "",
    ),
  );
}

const SECTIONS: Readonly<Record<string, string>> = {
  blocks: BLOCK_FORMS.map(
    ({ name, types, holders }) => `| ${name} | ${listNames(types)} | ${listNames(holders)} |`,
  ).join("\n"),
  envelopes: ENVELOPES.map(({ name }) => `- ${name}`).join("\n"),
  senders: `${listSenders().join("; ")}.`,
};

for (const [name, text] of Object.entries(SECTIONS))
  test(`the reference has the ${name} of the tables`, () => assert.ok(PAGE.includes(text), text));
