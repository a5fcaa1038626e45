// Sample: the paused run in a new user's inbox. It uses the calls of any client.
// Invariants:
//   sample.1. At most one sample waits: a restart shows the existing one.
//   sample.2. A failure to create the sample is a printed reason: the server runs without it.

export interface PausedSample {
  readonly threadId: string;
  readonly interruptId: string;
}

export type SampleOutcome =
  | { readonly kind: "waiting"; readonly sample: PausedSample }
  | { readonly kind: "none"; readonly reason: string };

export const SAMPLE_GRAPH = "refund-approval";

/** Marks the thread, so that a restart finds it. */
const MARK = { sample: "holdpoint dev" } as const;
const REQUEST = "My order 1042 arrived broken. Please refund it.";
const TIMEOUT_MS = 30_000;

/** @param url of the server, with its prefix */
export async function ensureSample(url: string): Promise<SampleOutcome> {
  try {
    const sample = (await findSample(url)) ?? (await startSample(url)); // sample.1
    return { kind: "waiting", sample };
  } catch (error) {
    return { kind: "none", reason: error instanceof Error ? error.message : String(error) }; // sample.2
  }
}

async function findSample(url: string): Promise<PausedSample | null> {
  const query = new URLSearchParams({ metadata: JSON.stringify(MARK), limit: "1" });
  const page = await call<{ readonly items: readonly { readonly id: string; readonly thread_id: string }[] }>(
    `${url}/inbox?${query.toString()}`,
  );
  const [item] = page.items;
  return item === undefined ? null : { threadId: item.thread_id, interruptId: item.id };
}

async function startSample(url: string): Promise<PausedSample> {
  const { thread_id: threadId } = await call<{ readonly thread_id: string }>(`${url}/threads`, { metadata: MARK });
  const end = await call<{ readonly __interrupt__?: readonly { readonly id: string }[]; readonly __error__?: unknown }>(
    `${url}/threads/${threadId}/runs/wait`,
    { assistant_id: SAMPLE_GRAPH, input: { messages: [{ role: "user", content: REQUEST }] } },
  );
  const interruptId = end.__interrupt__?.[0]?.id;
  if (interruptId === undefined) throw new Error(`the sample run did not pause: ${JSON.stringify(end.__error__)}`);
  return { threadId, interruptId };
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
