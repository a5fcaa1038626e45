// Site build: the pages of docs/, and a page of the API → docs/site/.vitepress/dist. `npm run docs:build` installs
// VitePress beside this file first, so that the installation of the project stays small.
// Rules:
//   - The site has the pages of docs/ as they are, each below a subject; a dead link between pages, or a page without a
//     subject, fails the build.
//   - The page of the API comes from the schemas that validate requests.
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { openApiDocument } from "@holdpoint/api/docs-page/document.ts";
import type { AnyOperation } from "@holdpoint/api/operation.ts";

const SITE = import.meta.dirname;
const ROOT = join(SITE, "..", "..");
const PAGES = join(SITE, ".pages");
const API = join(ROOT, "packages/api/src");

/** The head of the first page; below it are the contents. */
const LANDING = `---
layout: home
hero:
  name: Holdpoint
  text: Durable human-in-the-loop for LangGraph.js
  tagline: Your agent stops for a person, and goes on exactly once after the answer.
  image: { light: /inbox-item-light.png, dark: /inbox-item-dark.png, alt: "The inbox: a refund that waits for a person." }
  actions:
    - { text: Your first approval, link: /tutorials/first-approval, theme: brand }
    - { text: Comparison, link: /concepts/comparison, theme: alt }
features:
  - { title: Pauses that last, details: "A question survives restarts, deploys and crashes, and takes one answer.", link: /concepts/guarantees }
  - { title: An inbox for a team, details: "Approvals, forms and votes, in a console, Slack, e-mail or a terminal.", link: /reference/inbox }
  - { title: The server that clients know, details: "The LangGraph Server API for its SDKs and front ends, on SQLite or PostgreSQL.", link: /reference/agent-server }
  - { title: Traces beside it, details: "A collector of OpenTelemetry traces with a store of its own.", link: /reference/collector }
---
`;

rmSync(PAGES, { recursive: true, force: true });
for (const path of globSync("docs/**/*.md", { cwd: ROOT, exclude: (name) => name.includes("node_modules") })) {
  const page = relative("docs", path);
  if (page.startsWith("site")) continue;
  mkdirSync(dirname(join(PAGES, page)), { recursive: true });
  writeFileSync(join(PAGES, page), readFileSync(join(ROOT, path), "utf8").replace(/^<!--.*-->$/gm, ""));
}
cpSync(join(ROOT, "docs", "images"), join(PAGES, "images"), { recursive: true });
const contents = readFileSync(join(PAGES, "README.md"), "utf8");
rmSync(join(PAGES, "README.md"));
writeFileSync(join(PAGES, "index.md"), `${LANDING}\n${contents}`);

const document = openApiDocument(await everyOperation(), "", "");
writeFileSync(join(PAGES, "reference", "api.md"), apiPage(document as unknown as OpenApi));
mkdirSync(join(PAGES, "public", "reference"), { recursive: true });
for (const scheme of ["light", "dark"])
  cpSync(join(ROOT, `docs/images/inbox-item-${scheme}.png`), join(PAGES, `public/inbox-item-${scheme}.png`));
for (const file of globSync("docs/reference/*.json", { cwd: ROOT }))
  cpSync(join(ROOT, file), join(PAGES, "public", relative("docs", file)));
writeFileSync(join(PAGES, "public", "openapi.json"), JSON.stringify(document, null, 2));
execFileSync(process.execPath, [join(SITE, "node_modules/vitepress/bin/vitepress.js"), "build", SITE], {
  stdio: "inherit",
});

async function everyOperation(): Promise<readonly AnyOperation[]> {
  const files = globSync("*.ts", { cwd: API }).filter((file) => !file.endsWith(".test.ts"));
  const modules = await Promise.all(files.map((file) => import(join(API, file)) as Promise<object>));
  const isOperation = (value: unknown): value is AnyOperation =>
    typeof value === "object" && value !== null && "method" in value && "path" in value;
  return modules.flatMap((one) => Object.values(one).filter(isOperation));
}

interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly example?: unknown }>>;

function apiPage({ tags, paths }: OpenApi): string {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ path, method: method.toUpperCase(), one })),
  );
  const sections = tags.map(({ name, description }) => {
    const own = all.filter(({ one }) => one.tags.includes(name));
    return [`## ${name}`, description, ...own.map(operationText)].join("\n\n");
  });
  const head =
    "Every operation with an example. `GET /openapi.json` of a server has the schemas, and `/docs` a form for each call.";
  return `# API\n\n${head}\n\n${sections.join("\n\n")}\n`;
}

function operationText({
  path,
  method,
  one,
}: {
  readonly path: string;
  readonly method: string;
  readonly one: ApiOperation;
}): string {
  const body = formatExample(one.requestBody?.content);
  const [[status, reply] = ["", null]] = Object.entries(one.responses).filter(([code]) => code.startsWith("2"));
  const answer = formatExample(reply?.content);
  const refusals = Object.entries(one.responses).filter(([code]) => !code.startsWith("2"));
  return [
    `### ${one.summary} {#${one.operationId}}`,
    `\`${method} ${path}\``,
    one.description,
    ...(body === null ? [] : ["Body:", body]),
    ...(answer === null ? [`Reply: ${status}.`] : [`Reply, ${status}:`, answer]),
    `Refusals: ${refusals.map(([code, { description }]) => `${code} (${description})`).join("; ")}.`,
  ]
    .join("\n\n")
    .replaceAll("{{", "{ {");
}

function formatExample(content: Content | undefined): string | null {
  const [[media, value] = ["", undefined]] = Object.entries(content ?? {});
  if (value?.example === undefined) return null;
  const isText = typeof value.example === "string" && media !== "application/json";
  return isText
    ? `\`\`\`text\n${value.example}\n\`\`\``
    : `\`\`\`json\n${JSON.stringify(value.example, null, 2)}\n\`\`\``;
}
