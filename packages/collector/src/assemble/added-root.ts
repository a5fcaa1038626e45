// Added root: the run that the collector adds when no span has the root's place.
import { NO_ORIGINS } from "../shared/span-origin.ts";
import { PLAIN_CONTENT, type TraceRun, type UnplacedRun } from "../shared/trace-run.ts";
import { idOfSegment } from "./dotted-order.ts";
import type { Node } from "./tree-node.ts";

const FILTERED = formatExtra("the span is filtered; its content was not sent");
const MISSING = formatExtra("added by the collector: no span has arrived for it");

/**
 * @param cause the filtered span at the top, or the run whose parent did not come
 * @param amends there is an added root already
 */
export function addedRoot(root: Node, cause: UnplacedRun, amends: boolean): TraceRun {
  const isFiltered = cause.content === null;
  const { name, startTime, endTime, sessionName, sessionId } = cause.content ?? cause.shell ?? PLAIN_CONTENT;
  const extra = isFiltered ? FILTERED : MISSING;
  const id = idOfSegment(root.segment);
  return {
    tenant: cause.tenant,
    span: { traceId: cause.traceId, spanId: isFiltered ? cause.spanId : "", origins: NO_ORIGINS },
    id,
    traceId: id,
    parentRunId: "",
    dottedOrder: root.segment,
    amends,
    isAdded: true,
    content: {
      ...PLAIN_CONTENT,
      name,
      startTime,
      endTime,
      sessionName,
      sessionId,
      extra,
      size: name.length + extra.length,
    },
  };
}

function formatExtra(reason: string): string {
  return JSON.stringify({ metadata: { empty_root: reason } });
}
