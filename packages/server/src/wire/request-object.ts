// Request object: a request as JSON for clients.
import type { RequestObject } from "@holdpoint/api/requests.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Show } from "../model/payload/mask-secrets.ts";
import { decideRequestStatus, type StoredRequest } from "../model/request.ts";
import { summarise } from "./interrupt-summary.ts";
import { serializeReview } from "./review-object.ts";

/** @param show the answer and the votes */
export function serializeRequest(request: StoredRequest, publicUrl: string, show: Show): RequestObject {
  const { thread, interrupt } = request;
  const { threadId, metadata, createdAt, startedBy } = thread;
  const status = decideRequestStatus(request);
  const { graph_id: _graph, assistant_id: _assistant, requested_by: _by, ...own } = metadata;
  const schema = interrupt === null ? null : withoutRules(interrupt.responseSchema);
  const review = interrupt === null ? null : serializeReview(interrupt, show);
  const page = interrupt === null ? "" : `/${interrupt.interruptId}`;
  const expiresAt = interrupt?.expiresAt ?? null;
  return {
    request_id: threadId,
    interrupt_id: interrupt?.interruptId ?? null,
    status,
    url: `${publicUrl}/console/inbox/${threadId}${page}`,
    title: interrupt === null ? "" : summarise(interrupt.value, interrupt.responseSchema).title,
    payload: interrupt?.value ?? null,
    ...(schema === null ? {} : { response_schema: schema }),
    ...(review === null ? {} : { review }),
    metadata: own,
    requested_by: startedBy[0] ?? "",
    created_at: isoTime(createdAt),
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
    ended_at: status === "open" ? null : isoTime(thread.stateUpdatedAt),
    ...(status === "answered" ? answerMembers(request, show) : {}),
    ...(status === "cancelled" ? { reason: thread.error?.message || null } : {}),
  };
}

function answerMembers({ interrupt }: StoredRequest, show: Show): JsonObject {
  const { answer = null, responseSchema = null } = interrupt ?? {};
  if (answer === null) return {};
  return {
    answer: show(answer.value, responseSchema),
    answered_by: answer.by,
    answered_at: isoTime(answer.at),
  };
}

/** Rules of the question have members of their own. */
function withoutRules(schema: JsonObject | null): JsonObject | null {
  if (schema === null) return null;
  const names = Object.keys(schema);
  const declared = names.filter((name) => !name.startsWith("x-holdpoint-"));
  if (declared.length === 0 && names.length > 0) return null;
  return Object.fromEntries(declared.map((name) => [name, schema[name] ?? null]));
}
