// The official clients that front ends use today, unmodified, each version from its own package; and what tests read
// from them. They are a project of their own, test/sdk/clients.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { until } from "../threads.ts";
import { nestedProject } from "../../outside/nested-project.ts";
import type * as Sdk from "@langchain/langgraph-sdk";
import type * as Stream from "@langchain/langgraph-sdk/stream";

export const CLIENTS = nestedProject("test/sdk/clients");

/** 1.9 is that of `@langchain/svelte` 1.0, 1.11 that of `@langchain/react` 1.1. */
export const CLIENT_VERSIONS = ["1.9", "1.11", "1.12", "1.15"] as const;
type Version = (typeof CLIENT_VERSIONS)[number];

export interface OfficialClient {
  readonly Client: typeof Sdk.Client;
  /** The base of the hooks of all frameworks. */
  readonly StreamController: typeof Stream.StreamController;
  readonly messagesProjection: typeof Stream.messagesProjection;
  readonly toolCallsProjection: typeof Stream.toolCallsProjection;
  /** How the hooks of all frameworks carry out tools of the page. */
  readonly flushPendingHeadlessToolInterrupts: typeof Sdk.flushPendingHeadlessToolInterrupts;
  readonly scheduleCoalescedHeadlessToolFlush: typeof Sdk.scheduleCoalescedHeadlessToolFlush;
  readonly applyHeadlessToolResumeCommand: typeof Sdk.applyHeadlessToolResumeCommand;
}

export async function officialClient(version: Version): Promise<OfficialClient> {
  const { resolve } = createRequire(join(CLIENTS, "package.json"));
  const load = async (entry: string): Promise<object> => {
    const file = resolve(`sdk-${version}${entry}`).replace(/\.cjs$/, ".js");
    return (await import(pathToFileURL(file).href)) as object;
  };
  return { ...(await load("")), ...(await load("/stream")) } as OfficialClient;
}

export interface Page {
  readonly hook: Stream.StreamController<object>;
  readonly shown: () => ReturnType<Stream.StreamController<object>["rootStore"]["getSnapshot"]>;
  /** The texts of the messages, as a chat shows them. */
  readonly texts: () => readonly string[];
  /** The runs of the page whose ids it knows. Before it knows one, `hook.stop()` does not cancel the run. */
  readonly created: readonly string[];
  close(): Promise<void>;
}

interface PageOptions {
  readonly url: string;
  readonly threadId: string;
  readonly assistantId: string;
  /** Messages that are sent while a run works wait on the server. */
  readonly queue?: "server";
}

/** A page with a chat on a thread, without a framework. Loads the thread if there is one. */
export async function openPage(
  { Client, StreamController }: OfficialClient,
  { url, ...options }: PageOptions,
): Promise<Page> {
  const { threadId } = options;
  const client = new Client({ apiUrl: url, apiKey: null });
  const created: string[] = [];
  const hook = new StreamController<object>({ client, ...options, onCreated: ({ runId }) => created.push(runId) });
  const leave = hook.activate();
  await hook.hydrate(threadId);
  const shown: Page["shown"] = () => hook.rootStore.getSnapshot();
  return {
    hook,
    shown,
    texts: () => shown().messages.map(({ text }) => text),
    created,
    async close() {
      leave();
      await hook.dispose();
    },
  };
}

/** Waits until a page shows something. */
export const shows = (what: string, done: () => boolean): Promise<true> =>
  until(what, async () => (done() ? true : undefined));
