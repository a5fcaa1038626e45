// Screenshots: the pictures in docs/images/, made from the sample graphs by `npm run screenshots`. No test: it looks at
// nothing itself, people do.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startBrowser, type PersonOptions } from "./harness/console.ts";
import { call, removeFolder, ROOT, startServer, type TestServer } from "./harness/server.ts";

const FOLDER = join(ROOT, "docs", "images");
const DESK = { width: 1360, height: 850 };
const PHONE = { width: 390, height: 844 };

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly looks: readonly (keyof typeof LOOKS)[];
  readonly steps?: (page: Page) => Promise<void>;
}

const LOOKS = {
  light: { ...DESK, scheme: "light" },
  dark: { ...DESK, scheme: "dark" },
  phone: { ...PHONE, scheme: "light" },
} as const satisfies Readonly<Record<string, PersonOptions>>;

const openFirst = async (page: Page): Promise<void> => {
  await page
    .getByRole("link", { name: /^refund/ })
    .first()
    .click();
  await page.getByRole("button", { name: "Approve" }).waitFor();
  await page.getByText("My order").waitFor();
};

const edit = async (page: Page): Promise<void> => {
  await openFirst(page);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("amount_eur").fill("64.95");
};

const SHOTS: readonly Shot[] = [
  {
    name: "inbox",
    path: "/inbox",
    looks: ["light", "dark", "phone"],
    steps: (page) => page.getByRole("list", { name: "Waiting items" }).waitFor(),
  },
  { name: "inbox-item", path: "/inbox", looks: ["light", "dark", "phone"], steps: edit },
  {
    name: "inbox-confirm",
    path: "/inbox",
    looks: ["light"],
    async steps(page) {
      await edit(page);
      await page.getByRole("button", { name: "Review and send" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
];

const ORDERS = ["My order 4711 arrived broken.", "My order 4718 never came.", "My order 4720 is the wrong size."];

async function pause(server: TestServer, graph: string, input: object, metadata: object): Promise<void> {
  const { body: thread } = await call(server, "POST", "/threads", { metadata });
  const { thread_id: threadId } = thread as { readonly thread_id: string };
  await call(server, "POST", `/threads/${threadId}/runs/wait`, { assistant_id: graph, input });
}

async function fill(server: TestServer): Promise<void> {
  for (const [at, content] of ORDERS.entries()) {
    const metadata = { customer: ["ada", "grace", "alan"][at] };
    await pause(server, "refund-approval", { messages: [{ role: "user", content }] }, metadata);
  }
  await pause(server, "trip-planner", { destination: "Rome" }, {});
  await pause(server, "agent", { some_text: "We are sorry for the delay." }, {});
  await pause(server, "document-review", { topic: "the autumn release" }, {});
  await pause(server, "steps", {}, {});
}

const server = await startServer({ config: join(ROOT, "examples", "langgraph.json") });
const browser = await startBrowser(server);
try {
  await fill(server);
  mkdirSync(FOLDER, { recursive: true });
  for (const { name, path, looks, steps } of SHOTS) {
    for (const look of looks) {
      const page = await browser.open(path, { name: "Ada", holdSecs: 5, ...LOOKS[look] });
      await steps?.(page);
      await page.screenshot({ path: join(FOLDER, `${name}-${look}.png`) });
      await page.close();
      process.stdout.write(`${name}-${look}.png\n`);
    }
  }
} finally {
  await browser.close();
  await server.stop();
  removeFolder(server.dataDir);
}
