// Pages that stay open while servers die: the hook of the official clients, behind one address for all servers.
//   open-page.1. The server is killed in the middle of a run and started again: the page shows the whole message, and
//        the next submit ends when its run ends.
//   open-page.2. The same with two servers on one database: the page continues on the other one, whether the killed one
//        executed the run or served the page only.
//   open-page.3. A question that a page shows over a restart is answered by it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test, type TestContext } from "node:test";
import { startFront, type Front } from "../harness/protocol/front.ts";
import { testInLong } from "../harness/long.ts";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { officialClient, openPage, shows, type Page } from "../harness/protocol/sdk-clients.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { removeFolder, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";
import { isEnd, isRunning } from "../harness/protocol/thread-page.ts";
import { type EventReader, openEvents } from "../harness/thread-protocol.ts";

const folder = temporaryFolder();
after(() => removeFolder(folder));

/** 1.11 is that of `@langchain/react` 1.1; until 1.12.8 a page does not tell runs apart. */
const VERSIONS = ["1.11", "1.15"] as const;
const HALF = "This half came first. ";
const WHOLE = `${HALF}This half came after the wait.`;

const say = (content: string): object => ({ messages: [{ type: "human", content }] });
let gates = 0;
const newGate = (): string => join(folder, `gate-${++gates}`);

type Env = Readonly<Record<string, string>>;

interface Place {
  readonly front: Front;
  /** A server behind the front, which sends new connections to it from now on. */
  readonly start: (more?: Env) => Promise<TestServer>;
  /** The same in this process, for one that is not killed. */
  readonly startHere: () => Promise<ServerHere>;
}

/** A front, and servers that end with the test. */
async function openPlace(t: TestContext, env: Env): Promise<Place> {
  const front = await startFront();
  const servers: TestServer[] = [];
  const here: ServerHere[] = [];
  t.after(async () => {
    await front.close();
    for (const one of here) await one.stop();
    for (const one of servers) if (one.process.exitCode === null && one.process.signalCode === null) await one.kill();
  });
  return {
    front,
    async start(more = {}) {
      const server = await startServer({ dataDir: join(folder, "unused"), env: { ...env, ...more } });
      servers.push(server);
      front.to(server);
      return server;
    },
    async startHere() {
      const server = await startServerHere({ dataDir: join(folder, "unused"), env });
      here.push(server);
      front.to(server);
      return server;
    },
  };
}

/** A page of one version in the middle of a run. */
class OpenPage {
  readonly version: string;
  private readonly page: Page;
  private readonly openEvents: () => Promise<EventReader>;
  private readonly gate = newGate();
  private sent = Promise.resolve();

  private constructor(version: string, page: Page, open: () => Promise<EventReader>) {
    this.version = version;
    this.page = page;
    this.openEvents = open;
  }

  static async load(version: (typeof VERSIONS)[number], { url }: Front): Promise<OpenPage> {
    const threadId = randomUUID();
    const page = await openPage(await officialClient(version), { url, threadId, assistantId: "writer" });
    return new OpenPage(version, page, () => openEvents({ url }, threadId, { channels: ["lifecycle"] }));
  }

  async sendToHalf(): Promise<void> {
    this.sent = this.page.hook.submit(say(this.gate));
    this.sent.catch(() => undefined); // endsAndGoesOn() awaits it
    await shows("half of the message", () => this.page.texts().at(-1) === HALF);
  }

  /** Lets the run end, and has another one. */
  async endsAndGoesOn(): Promise<void> {
    writeFileSync(this.gate, "");
    await this.sent;
    await this.showsWhole(this.gate);
    await shows("the end", () => !this.page.shown().isLoading);

    const later = newGate();
    const events = await this.openEvents();
    await events.until(isEnd);
    let settled = false;
    const again = this.page.hook.submit(say(later)).finally(() => (settled = true));
    await events.until(isRunning);
    events.close();
    if (this.version === "1.15") assert.equal(settled, false);
    writeFileSync(later, "");
    await again;
    await this.showsWhole(this.gate, later);
    assert.equal(this.page.shown().error, undefined);
    await this.page.close();
  }

  /** Until 1.12.8 pages keep the text of an attempt that was killed, until they are loaded anew. */
  private async showsWhole(...sent: readonly string[]): Promise<void> {
    const wanted = sent.flatMap((gate) => [gate, WHOLE]).join("\n");
    await shows(`the whole messages in ${this.version}`, () => {
      const texts = this.page.texts().filter((text) => this.version === "1.15" || text !== HALF);
      return texts.join("\n") === wanted;
    });
  }
}

const inMidRun = async (front: Front): Promise<readonly OpenPage[]> => {
  const pages = await Promise.all(VERSIONS.map((version) => OpenPage.load(version, front)));
  for (const page of pages) await page.sendToHalf();
  return pages;
};

describe("pages that stay open", () => {
  test("one process, killed in mid-run (open-page.1, open-page.3)", PATIENCE, async (t) => {
    const { front, start, startHere } = await openPlace(t, { HOLDPOINT_DATA_DIR: join(folder, "data") });
    const server = await start();
    const pages = await inMidRun(front);
    const asked: Page[] = [];
    for (const version of VERSIONS) {
      const place = { url: front.url, threadId: randomUUID(), assistantId: "echo" };
      const page = await openPage(await officialClient(version), place);
      await page.hook.submit({ payload: "sure?" });
      await shows("the question", () => page.shown().interrupts.length === 1);
      asked.push(page);
    }
    front.to(null);
    await server.kill();
    await startHere();
    for (const page of pages) await page.endsAndGoesOn();
    for (const page of asked) {
      const [{ id = "" } = {}] = page.shown().interrupts;
      await page.hook.respond("yes", { interruptId: id });
      await shows("the answer", () => JSON.stringify(page.shown().values).includes('"answer":["yes"]'));
      await shows("no question", () => page.shown().interrupts.length === 0);
      await page.close();
    }
  });

  test("two processes, the executing one is killed (open-page.2)", PATIENCE, async (t) => {
    const { front, start, startHere } = await openPlace(t, { DATABASE_URI: await newDatabase() });
    const first = await start();
    const pages = await inMidRun(front);
    await startHere();
    await first.kill();
    for (const page of pages) await page.endsAndGoesOn();
  });

  testInLong("two processes, the one that serves the page is killed (open-page.2)", PATIENCE, async (t) => {
    const { front, start } = await openPlace(t, { DATABASE_URI: await newDatabase() });
    const second = await start();
    const first = await start({ HOLDPOINT_ROLE: "api" });
    const pages = await inMidRun(front);
    front.to(second);
    await first.kill();
    for (const page of pages) await page.endsAndGoesOn();
  });
});
