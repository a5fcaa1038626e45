// Request event: the webhook body for the end of a request. It is stored in the transaction of the end.
import { showAll } from "../model/payload/mask-secrets.ts";
import { decideRequestStatus, type StoredRequest } from "../model/request.ts";
import type { Run, RunWebhook } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { serializeRequest } from "../wire/request-object.ts";
import { outboxId } from "./outbox-id.ts";
import { buildWebhookRow, STAMPED } from "./webhook-row.ts";

/** The event omits a longer payload and flags it; the request has it. */
const PAYLOAD_UNITS_MAX = 1024 * 1024;

type RequestTx = Pick<Tx, "thread" | "interrupts">;

export async function readStoredRequest(tx: RequestTx, threadId: string): Promise<StoredRequest | null> {
  const thread = await tx.thread(threadId);
  if (thread === null) return null;
  const [interrupt = null] = await tx.interrupts(threadId, null);
  return { thread, interrupt };
}

/** Called after the writes of the end. Does nothing while the request is open. */
export async function putRequestEvents(
  tx: RequestTx & Pick<Tx, "putWebhook">,
  run: Pick<Run, "threadId" | "runId">,
  webhooks: readonly RunWebhook[],
  at: number,
): Promise<void> {
  const own = webhooks.filter(({ format }) => format === "request");
  const request = own.length === 0 ? null : await readStoredRequest(tx, run.threadId);
  if (request === null || decideRequestStatus(request) === "open") return;
  const body = eventText(request);
  for (const { webhookId, url, headers } of own) {
    const id = outboxId(`request ${run.threadId} ${webhookId}`);
    await tx.putWebhook(buildWebhookRow({ updatedAt: at }, { id, url, headers, body }));
  }
}

function eventText(request: StoredRequest): string {
  const { url: _page, payload, ...rest } = serializeRequest(request, "", showAll);
  const fits = JSON.stringify(payload).length <= PAYLOAD_UNITS_MAX;
  const event = {
    type: `request.${rest.status}`,
    ...rest,
    payload: fits ? payload : null,
    ...(fits ? {} : { payload_left_out: true }),
  };
  return `${STAMPED}${JSON.stringify(event).slice(1)}`;
}
