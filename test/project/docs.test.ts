// Test of the reference pages against the code.
// Rules:
//   docs.1. docs/reference/errors.md lists exactly the codes of ERROR_CODES, in order, with status, title, cause and
//        remedy.
//   docs.2. docs/reference/configuration.md lists exactly the settings of every settings table, as in the code.
//   docs.3. Every settings table appears, and every default is a valid value of its setting.
//   docs.5. Every relative link of a page leads to a file, and its fragment to a heading there.
// A failing comparison prints the whole expected table, to replace the page's.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { AGENT_SETTINGS } from "@holdpoint/server/server/settings.ts";
import { CLIENT_SETTINGS } from "../../packages/holdpoint/src/cli/client/settings.ts";
import { collectorSettings } from "@holdpoint/collector/service/settings.ts";
import type { Setting, SettingsTable } from "@holdpoint/base/config/config.ts";
import { ERROR_CODES } from "@holdpoint/base/api-error.ts";
import { TELEMETRY_SETTINGS } from "@holdpoint/server/telemetry/settings.ts";
import { TRACE_SETTINGS } from "@holdpoint/collector/traces/settings.ts";

const ROOT = join(import.meta.dirname, "../..");

/**
 * One line a settings table: the heading of its section in docs/reference/configuration.md, the file it is in, the
 * table.
 */
const SETTINGS_TABLES: readonly (readonly [heading: string, file: string, table: SettingsTable])[] = [
  ["Agent server", "packages/server/src/server/settings.ts", AGENT_SETTINGS],
  ["Terminal", "packages/holdpoint/src/cli/client/settings.ts", CLIENT_SETTINGS],
  ["Trace collector", "packages/collector/src/service/settings.ts", collectorSettings],
  ["Traces of runs", "packages/server/src/telemetry/settings.ts", TELEMETRY_SETTINGS],
  ["Local trace store", "packages/collector/src/traces/settings.ts", TRACE_SETTINGS],
];

function readPage(name: string): string {
  return readFileSync(join(ROOT, "docs", name), "utf8");
}

/** The text below `## heading`, up to the next one. */
function section(page: string, heading: string): string {
  const [, below = ""] = `\n${page}`.split(`\n## ${heading}\n`);
  return below.split("\n## ")[0] ?? "";
}

type Row = readonly string[];

/** The rows of the first table in a text, without its two head lines. */
function parseRows(text: string): readonly Row[] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const rest = first === -1 ? [] : lines.slice(first);
  const end = rest.findIndex((line) => !line.startsWith("|"));
  return rest.slice(2, end === -1 ? undefined : end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("\\|", "|")),
  );
}

function printTable(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function compare(page: string, actual: readonly Row[], expected: readonly Row[], head: Row): void {
  const is = printTable(head, actual);
  const shouldBe = printTable(head, expected);
  if (is === shouldBe) return;
  const wrong = is.split("\n").filter((line) => !shouldBe.split("\n").includes(line));
  const missing = shouldBe.split("\n").filter((line) => !is.split("\n").includes(line));
  const lines = [...wrong.map((line) => `- ${line}`), ...missing.map((line) => `+ ${line}`)].join("\n");
  assert.fail(`docs/${page} does not match the code:\n${lines}\n\nThe whole table has to be:\n\n${shouldBe}\n`);
}

const ERRORS_HEAD = ["code", "status", "title", "cause", "remedy"];
const SETTINGS_HEAD = ["name", "type", "default", "limits", "meaning"];

function errorRows(documented: readonly Row[]): readonly Row[] {
  return Object.entries(ERROR_CODES).map(([code, [status, title]]) => {
    const [, , , when = "", remedy = ""] = documented.find(([name]) => name === `\`${code}\``) ?? [];
    return [`\`${code}\``, String(status), title, when, remedy];
  });
}

function settingRow(one: Setting<unknown>): Row {
  const names = [one.name, ...one.aliases].map((name) => `\`${name}\``).join(" or ");
  const type = one.secret ? `${one.type}, secret` : one.type;
  const fallback = one.fallback === null ? one.fallbackText : `\`${one.fallbackText}\``;
  return [names, type, fallback, one.limits, one.meaning];
}

test("docs/reference/errors.md lists exactly the codes that exist, with their status and title (docs.1)", () => {
  const documented = parseRows(readPage("reference/errors.md"));
  compare("reference/errors.md", documented, errorRows(documented), ERRORS_HEAD);
});

test("docs/reference/errors.md has the cause and the remedy of every code (docs.1)", () => {
  const silent = parseRows(readPage("reference/errors.md")).filter(
    (row) => row.length !== 5 || row.some((cell) => cell === ""),
  );
  assert.deepEqual(silent, []);
});

for (const [heading, , table] of SETTINGS_TABLES) {
  test(`docs/reference/configuration.md lists exactly the settings of: ${heading} (docs.2)`, () => {
    const documented = parseRows(section(readPage("reference/configuration.md"), heading));
    compare("reference/configuration.md", documented, Object.values(table).map(settingRow), SETTINGS_HEAD);
  });

  for (const one of Object.values(table)) {
    test(`${heading}: the default of ${one.name} is a value it would take itself (docs.3)`, () => {
      if (one.fallback !== null) assert.deepEqual(one.parse(one.fallbackText), one.fallback);
      assert.match(one.name, /^[A-Z][A-Z0-9_]*$/);
      assert.match(one.meaning, /^\S.*\.$/);
    });
  }
}

test("no settings table of the sources is left out here (docs.3)", () => {
  assert.deepEqual(
    SETTINGS_TABLES.map(([, file]) => file).toSorted(),
    globSync("packages/*/src/**/settings.ts", { cwd: ROOT }).toSorted(),
  );
});

test("at most 80 settings: a new one has to be worth a line for every reader (docs.3)", () => {
  const names = new Set(SETTINGS_TABLES.flatMap(([, , table]) => Object.values(table).map(({ name }) => name)));
  assert.ok(names.size <= 80, `${names.size} settings`);
});

test("no name is used by two settings of one table (docs.3)", () => {
  for (const [, , table] of SETTINGS_TABLES) {
    const names = Object.values(table).flatMap((one) => [one.name, ...one.aliases]);
    assert.deepEqual(names, [...new Set(names)]);
  }
});

/** Fragment of a heading, as GitHub derives it. */
function toFragment(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

function brokenLinks(page: string): readonly string[] {
  const prose = (path: string): string => readFileSync(path, "utf8").replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose(join(ROOT, page)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", fragment] = target.split("#");
    const file = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
    if (!existsSync(file)) return [`${page}: ${target}`];
    if (fragment === undefined || !file.endsWith(".md")) return [];
    const headings = [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => toFragment(heading));
    return headings.includes(fragment) ? [] : [`${page}: ${target}`];
  });
}

test("every relative link of a page leads to a file and a heading (docs.5)", () => {
  const pages = globSync(["*.md", "{docs,examples,src,console}/**/*.md"], {
    cwd: ROOT,
    exclude: (path) => path.startsWith("docs/site") || path.includes("node_modules"),
  });
  assert.deepEqual(pages.flatMap(brokenLinks), []);
});

test("detects wrong, missing and extra lines of a page", () => {
  const page = printTable(ERRORS_HEAD, [["`a`", "400", "One | two", "when", "do"]]);
  const [row = []] = parseRows(`before\n\n${page}\n\nafter`);
  assert.deepEqual(row, ["`a`", "400", "One | two", "when", "do"]);
  assert.throws(() => compare("p", [row], [["`a`", "401", "One | two", "when", "do"]], ERRORS_HEAD), /\| 401 \|/);
  assert.throws(() => compare("p", [], [row], ERRORS_HEAD));
  assert.throws(() => compare("p", [row, row], [row], ERRORS_HEAD));
  assert.deepEqual(parseRows(section("# Page\n\n## One\n\n| a |\n| - |\n| 1 |\n\n## Two\n", "Two")), []);
});
