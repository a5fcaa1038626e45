// The site: navigation by kind of page, search without a service. Links that leave docs/ lead to the repository.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const PAGES = join(import.meta.dirname, "..", ".pages");
const REPOSITORY = "https://github.com/holdpoint/holdpoint/blob/main";
const SECTIONS = [
  ["tutorials", "Tutorials"],
  ["how-to", "How-to guides"],
  ["concepts", "Concepts"],
  ["reference", "Reference"],
];

function readTitle(path) {
  const [, title = path] = /^# (.*)$/m.exec(readFileSync(path, "utf8")) ?? [];
  return title.replaceAll("`", "");
}

const sidebar = SECTIONS.map(([folder, text]) => ({
  text,
  items: readdirSync(join(PAGES, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => ({ text: readTitle(join(PAGES, folder, name)), link: `/${folder}/${name.slice(0, -3)}` })),
}));

/** `../../SECURITY.md` of `how-to/deploy.md` → the file in the repository. */
function outside(markdown) {
  markdown.core.ruler.push("outside", (state) => {
    const page = state.env.relativePath ?? "";
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === "code_inline") token.attrSet("v-pre", ""); // `{{` is text here
      if (token.type !== "link_open") continue;
      const href = token.attrGet("href") ?? "";
      if (/^[a-z]+:|^#/.test(href)) continue;
      const target = posix.join("docs", dirname(page), href);
      if (!target.startsWith("docs/")) token.attrSet("href", `${REPOSITORY}/${target}`);
    }
  });
}

export default {
  title: "Holdpoint",
  description: "Durable human-in-the-loop for LangGraph.js",
  srcDir: ".pages",
  cleanUrls: true,
  markdown: { config: outside },
  vite: { publicDir: "public" },
  // Dead links fail the build; addresses of a server of the reader are no pages.
  ignoreDeadLinks: [/^https?:\/\/(localhost|127\.0\.0\.1)/],
  themeConfig: { sidebar, search: { provider: "local" }, outline: [2, 3] },
};
