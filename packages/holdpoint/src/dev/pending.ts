// Pending: the item of the inbox that a start shows: the paused sample run of a new user, or the longest waiting item
// of a project. It uses the calls of any client.
// Invariants:
//   - At most one sample waits: a restart shows the existing one.
//   - A failure to create the sample is a printed reason: the server runs without it.
//   - No run of the user's own graphs is started.

import type { InboxItem } from "@holdpoint/api/inbox.ts";

export interface PendingItem {
  readonly threadId: string;
  readonly interruptId: string;
  readonly graphId: string;
  /** The words of a command that answers it; null if its question has a form of its own. */
  readonly answer: string | null;
}

export type Pending =
  | { readonly kind: "waiting"; readonly item: PendingItem }
  | { readonly kind: "empty" }
  | { readonly kind: "none"; readonly reason: string };

const SAMPLE_GRAPH = "refund-approval";

/** Marks the thread, so that a restart finds it. */
const MARK = { sample: "holdpoint dev" } as const;
const REQUEST = "My order 1042 arrived broken. Please refund it.";
const TIMEOUT_MS = 30_000;

/** @param url of the server, with its prefix @param samples the graphs are the samples, and one run is to wait */
export async function findPending(url: string, samples: boolean): Promise<Pending> {
  if (!samples) return (await findItem(url, {}).catch(() => null)) ?? { kind: "empty" }; // callers may need a key
  try {
    const mark = { metadata: JSON.stringify(MARK) };
    const waiting = (await findItem(url, mark)) ?? (await startSample(url), await findItem(url, mark));
    return waiting ?? { kind: "none", reason: "the sample run did not pause" };
  } catch (error) {
    return { kind: "none", reason: error instanceof Error ? error.message : String(error) };
  }
}

async function findItem(url: string, filter: Readonly<Record<string, string>>): Promise<Pending | null> {
  const query = new URLSearchParams({ ...filter, limit: "1" });
  const page = await call<{ readonly items: readonly InboxItem[] }>(`${url}/inbox?${query.toString()}`);
  const [item] = page.items;
  if (item === undefined) return null;
  const { id: interruptId, thread_id: threadId, graph_id: graphId } = item;
  return { kind: "waiting", item: { threadId, interruptId, graphId, answer: answerTo(item) } };
}

function answerTo({ id, kind, decisions, response_schema: schema }: InboxItem): string | null {
  if (kind === "breakpoint" || decisions.includes("approve")) return `inbox approve ${id}`;
  return schema === undefined && decisions.includes("respond") ? `inbox answer ${id} --text "…"` : null;
}

async function startSample(url: string): Promise<void> {
  const { thread_id: threadId } = await call<{ readonly thread_id: string }>(`${url}/threads`, { metadata: MARK });
  const input = { messages: [{ role: "user", content: REQUEST }] };
  await call(`${url}/threads/${threadId}/runs/wait`, { assistant_id: SAMPLE_GRAPH, input });
}

async function call<T>(address: string, body?: object): Promise<T> {
  const response = await fetch(address, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body === undefined
      ? {}
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${new URL(address).pathname} answered ${response.status}`);
  return (await response.json()) as T;
}
