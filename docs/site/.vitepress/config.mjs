// The site: navigation by subject, search without a service. Links that leave docs/ lead to the repository.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const PAGES = join(import.meta.dirname, "..", ".pages");
const MANIFEST = join(import.meta.dirname, "../../../packages/holdpoint/package.json");
const [SOURCES] = JSON.parse(readFileSync(MANIFEST, "utf8")).homepage.split("#");
const REPOSITORY = `${SOURCES}/blob/main`;
/** Subject → its pages, in the order in which people read them. */
const SUBJECTS = {
  Start: [
    "tutorials/first-approval",
    "tutorials/first-trace",
    "reference/dev",
    "how-to/migrate",
    "concepts/comparison",
  ],
  "Ask people": [
    "how-to/ask-for-approval",
    "how-to/ask-from-any-program",
    "how-to/ci",
    "how-to/coding-agents",
    "how-to/notify",
    "reference/console",
    "reference/inbox",
    "reference/interrupts",
    "reference/requests",
    "reference/policies",
  ],
  "Run graphs": [
    "concepts/runs-and-pauses",
    "concepts/guarantees",
    "how-to/test-your-graph",
    "how-to/retry",
    "reference/agent-server",
    "reference/api",
    "reference/controls",
    "reference/crons",
    "reference/store",
  ],
  Connect: [
    "how-to/front-ends",
    "how-to/mcp",
    "how-to/a2a",
    "how-to/embed",
    "reference/thread-protocol",
    "reference/cli",
  ],
  Traces: ["reference/collector", "reference/traces", "how-to/trace-rules"],
  Operate: [
    "how-to/production",
    "how-to/sign-in",
    "reference/auth",
    "how-to/deploy",
    "how-to/postgres",
    "concepts/many-machines",
    "how-to/retention",
    "how-to/backup",
    "how-to/encryption",
    "how-to/upgrade",
    "reference/operations",
    "reference/sizing",
    "reference/configuration",
    "how-to/publish",
  ],
  Help: ["how-to/troubleshooting", "reference/errors", "reference/faq", "reference/glossary"],
};

function readTitle(path) {
  const [, title = path] = /^# (.*)$/m.exec(readFileSync(path, "utf8")) ?? [];
  return title.replaceAll("`", "");
}

const sidebar = Object.entries(SUBJECTS).map(([text, pages]) => ({
  text,
  items: pages.map((page) => ({ text: readTitle(join(PAGES, `${page}.md`)), link: `/${page}` })),
}));
const forgotten = readdirSync(PAGES, { recursive: true })
  .filter((name) => name.endsWith(".md") && name !== "index.md")
  .map((name) => name.slice(0, -3).replaceAll("\\", "/"))
  .filter((page) => !Object.values(SUBJECTS).flat().includes(page));
if (forgotten.length > 0) throw new Error(`pages without a subject: ${forgotten.join(", ")}`);

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

/** The picture of the first page is as wide as its place, and the contents keep their distance from the features. */
const LOOK = `
  .VPHome > .vp-doc.container { padding-top: 48px; }
  .VPHome .VPHero .image { margin: 0 0 24px; }
  .VPHero .image-bg { display: none; }
  .VPHero .image-container { transform: none; width: auto; height: auto; }
  .VPHero .VPImage.image-src { position: static; transform: none; max-width: 100%; max-height: none;
    border: 1px solid var(--vp-c-divider); border-radius: 8px; }`;

export default {
  title: "Holdpoint",
  description: "Durable human-in-the-loop for LangGraph.js",
  base: `${process.env.SITE_BASE ?? ""}/`, // the path of GitHub Pages, such as /holdpoint
  srcDir: ".pages",
  cleanUrls: true,
  markdown: { html: false, config: outside }, // `<name>` is text
  head: [["style", {}, LOOK]],
  vite: { publicDir: "public" },
  // Dead links fail the build; addresses of a server of the reader are no pages.
  ignoreDeadLinks: [/^https?:\/\/(localhost|127\.0\.0\.1)/],
  themeConfig: {
    sidebar,
    search: { provider: "local" },
    outline: [2, 3],
    notFound: { quote: "Search, or begin at the first page.", linkText: "To the first page" },
    socialLinks: [{ icon: "github", link: SOURCES, ariaLabel: "Sources" }],
  },
};
