// Screenshots: the pictures in docs/images/, made from the sample graphs by `npm run screenshots`, or some of them by
// `npm run screenshots -- waits collector`. No test: it asserts nothing.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startBrowser, type PersonOptions } from "../harness/console.ts";
import { npmStart, type Started } from "../harness/npm-start.ts";
import { call, ROOT } from "../harness/server.ts";

const FOLDER = join(ROOT, "docs", "images");
const DESK = { width: 1360, height: 850 };
const PHONE = { width: 390, height: 844 };

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly looks: readonly (keyof typeof LOOKS)[];
  /** Undo window; without one, a confirmation comes before every answer. */
  readonly holdSecs?: number;
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
    steps: (page) => page.getByRole("list", { name: "Pending items" }).waitFor(),
  },
  { name: "inbox-item", path: "/inbox", looks: ["light", "dark", "phone"], steps: edit },
  {
    name: "inbox-confirm",
    path: "/inbox",
    looks: ["light"],
    holdSecs: 0,
    async steps(page) {
      await edit(page);
      await page.getByRole("button", { name: "Review and send" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "threads",
    path: "/threads",
    looks: ["light", "dark", "phone"],
    steps: (page) => page.getByRole("list", { name: "Threads" }).waitFor(),
  },
  {
    name: "thread-graph",
    path: "/threads/WAITING?tab=graph",
    looks: ["light", "dark", "phone"],
    steps: (page) => page.getByRole("button", { name: /paused here/ }).waitFor(),
  },
  {
    name: "traces",
    path: "/traces",
    looks: ["light", "dark", "phone"],
    async steps(page) {
      await page.getByRole("list", { name: "Traces" }).waitFor();
      await page.locator(".histogram canvas").waitFor();
    },
  },
  {
    name: "trace",
    path: "/traces?thread=DONE",
    looks: ["light", "dark", "phone"],
    async steps(page) {
      await page.getByRole("list", { name: "Traces" }).getByRole("link").first().click();
      await page.getByRole("treeitem", { name: /^refund/ }).waitFor();
      await page.getByRole("treeitem", { name: /^chat/ }).first().click();
      await page.getByText("My order").first().waitFor();
    },
  },
  {
    name: "assistants",
    path: "/assistants?graph=refund-approval",
    looks: ["light", "dark", "phone"],
    steps: (page) => page.getByRole("button", { name: "approval", exact: true }).waitFor(),
  },
  {
    name: "store",
    path: "/store?ns=users.4711.memories&key=diet",
    looks: ["light", "dark", "phone"],
    steps: (page) => page.getByRole("region", { name: "Item" }).waitFor(),
  },
  {
    name: "crons",
    path: "/crons?cron=CRON",
    looks: ["light", "dark", "phone"],
    steps: (page) => page.getByRole("region", { name: "Cron" }).waitFor(),
  },
  {
    name: "collector",
    path: "/collector",
    looks: ["light", "dark", "phone"],
    steps: (page) => page.getByRole("img", { name: /^Spans received/ }).waitFor(),
  },
  {
    name: "waits",
    path: "/answered",
    looks: ["light"],
    async steps(page) {
      await page.getByText(/^Waits:/).click();
      await page.getByText(/^Answers: the newest/).waitFor();
    },
  },
  {
    name: "settings",
    path: "/settings",
    looks: ["light", "dark", "phone"],
    steps: (page) => page.getByText("HTTP_PORT", { exact: true }).waitFor(),
  },
];

const ORDERS = ["My order 4711 arrived broken.", "My order 4718 never came.", "My order 4720 is the wrong size."];

async function pause(server: Started, graph: string, input: object, metadata: object): Promise<string> {
  const { body: thread } = await call(server, "POST", "/threads", { metadata });
  const { thread_id: threadId } = thread as { readonly thread_id: string };
  await call(server, "POST", `/threads/${threadId}/runs/wait`, { assistant_id: graph, input });
  return threadId;
}

/** @returns the ids for the URLs of the created objects */
async function fill(server: Started): Promise<Readonly<Record<string, string>>> {
  let waiting = server.threadId;
  for (const [at, content] of ORDERS.entries()) {
    const metadata = { customer: ["ada", "grace", "alan"][at] };
    waiting = await pause(server, "refund-approval", { messages: [{ role: "user", content }] }, metadata);
  }
  await pause(server, "trip-planner", { destination: "Rome" }, {});
  await pause(server, "agent", { some_text: "We are sorry for the delay." }, {});
  await pause(server, "document-review", { topic: "the autumn release" }, {});
  await pause(server, "steps", {}, {});
  await call(server, "POST", `/threads/${server.threadId}/runs/wait`, {
    assistant_id: "refund-approval",
    command: { resume: { decisions: [{ type: "approve" }] } },
  });
  for (const [user, text] of Object.entries({ 4711: "eats no meat", 4718: "is allergic to nuts" })) {
    const item = { namespace: ["users", user, "memories"], key: "diet", value: { kind: "preference", text } };
    await call(server, "PUT", "/store/items", item);
  }
  const { body: cron } = await call(server, "POST", "/runs/crons", {
    assistant_id: "document-review",
    schedule: "30 9 * * MON-FRI",
    timezone: "Europe/Berlin",
    input: { topic: "the news of the day" },
  });
  await call(server, "POST", "/console/api/collector/sample");
  const { cron_id: CRON } = cron as { readonly cron_id: string };
  return { WAITING: waiting, DONE: server.threadId, CRON };
}

const [, , ...wanted] = process.argv;
const shots = SHOTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const server = await npmStart();
const browser = await startBrowser(server);
try {
  const made = await fill(server);
  mkdirSync(FOLDER, { recursive: true });
  for (const { name, path, looks, holdSecs = 5, steps } of shots) {
    const address = path.replace(/[A-Z]{4,}/, (word) => made[word] ?? word);
    for (const look of looks) {
      const page = await browser.open(address, { name: "Ada", holdSecs, ...LOOKS[look] });
      await steps?.(page);
      await page.screenshot({ path: join(FOLDER, `${name}-${look}.png`) });
      await page.close();
      process.stdout.write(`${name}-${look}.png\n`);
    }
  }
} finally {
  await browser.close();
  await server.stop();
}
