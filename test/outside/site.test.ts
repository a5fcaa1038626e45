// The documentation site, built as it is published.
// Rules:
//   site.1. No link of a page leads to a page or a heading that is not there; links that leave the site lead to files of
//        the repository.
//   site.2. There are a landing page, a sidebar by subject on every other page, a search, and a link to the sources.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { before, test } from "node:test";
import { ROOT } from "../harness/server.ts";
import { nestedProject } from "./nested-project.ts";

const BUILT = join(ROOT, "docs/site/.vitepress/dist");
const MANIFEST = JSON.parse(readFileSync(join(ROOT, "packages/holdpoint/package.json"), "utf8"));
const [SOURCES = ""] = (MANIFEST as { readonly homepage: string }).homepage.split("#");
let pages: ReadonlyMap<string, string>;

before(() => {
  nestedProject("docs/site");
  if (process.env["HOLDPOINT_TEST_SITE_BUILT"] !== "1")
    // .ci/run: the release has built it
    execFileSync(process.execPath, [join(ROOT, "docs/site/build.ts")], { stdio: "pipe" });
  const files = globSync("**/*.html", { cwd: BUILT });
  pages = new Map(files.map((file) => [file, readFileSync(join(BUILT, file), "utf8")]));
});

function findDead(page: string, text: string): readonly string[] {
  const links = [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));
  return links.filter((href) => {
    if (href.startsWith(`${SOURCES}/blob/main/`))
      return !existsSync(join(ROOT, (href.split("#")[0] ?? "").slice(SOURCES.length + 11)));
    if (/^[a-z]+:/.test(href)) return false;
    const [path = "", fragment = ""] = href.split("#");
    const target = path === "" ? page : posix.join(path.startsWith("/") ? "." : dirname(page), path);
    const found = ["", ".html", "index.html", "/index.html"].map((end) =>
      pages.get(`${target}${end}`.replace(/^\.?\//, "")),
    );
    const shown = found.find((one) => one !== undefined);
    if (shown === undefined) return !existsSync(join(BUILT, target)) || target === ".";
    return fragment !== "" && !shown.includes(`id="${decodeURIComponent(fragment)}"`) && !fragment.startsWith("VP");
  });
}

test("no link of the site leads to a page or a heading that is not there (site.1)", () => {
  assert.ok(pages.size > 50, String(pages.size));
  const dead = [...pages].flatMap(([page, text]) => findDead(page, text).map((href) => `${page}: ${href}`));
  assert.deepEqual(dead, []);
  assert.deepEqual(findDead("index.html", '<a href="/nowhere">'), ["/nowhere"], "it would find one");
});

test("the site has a landing page, a sidebar by subject, a search and a link to the sources (site.2)", () => {
  const landing = pages.get("index.html") ?? "";
  assert.match(landing, /class="VPHero[^]*Your agent stops for a person[^]*Pauses that last/);
  for (const [page, text] of pages) {
    if (page === "404.html") continue;
    assert.ok(text.includes(`href="${SOURCES}"`) && text.includes("VPNavBarSearch"), page);
    if (page === "index.html") continue;
    for (const subject of ["Ask people", "Run graphs", "Operate"]) assert.ok(text.includes(`>${subject}<`), page);
  }
});
