// Bulk: the selected items that one decision covers, and the answer for each. Pure.
import { answerAll, type Decision } from "@holdpoint/api/dialects.ts";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { Json } from "../../../json/json.ts";
import { buildApproval, readRequest, type Request } from "../../../answering/model/request.ts";

export type BulkKind = "approve" | "reject" | "assign";

export type BulkDecision =
  /** onlySafe leaves out dangerous items: a person decides them one by one. */
  { readonly type: "approve"; readonly onlySafe?: boolean } | { readonly type: "reject"; readonly message: string };

export interface Planned {
  readonly item: InboxItem;
  /** Undefined to continue at a breakpoint. */
  readonly resume: Json | undefined;
  /** Arguments of the request, for display. */
  readonly args: unknown;
}

export interface Group {
  /** "refund", or the name of the node at breakpoints. */
  readonly what: string;
  readonly graph: string;
  readonly planned: readonly Planned[];
}

export interface Plan {
  /** Items of one graph and one action together, in the order of the first of each (bulk-dialog.1). */
  readonly groups: readonly Group[];
  readonly planned: readonly Planned[];
  /** Items that do not allow the decision, or are no longer open. */
  readonly left: readonly InboxItem[];
}

export function buildPlan(items: readonly InboxItem[], decision: BulkDecision): Plan {
  const groups = new Map<string, Group & { readonly planned: Planned[] }>();
  const left: InboxItem[] = [];
  for (const item of items) {
    const request = readRequest(item);
    const resume = buildResume(request, decision);
    const isUnsafe = item.dangerous && decision.type === "approve" && decision.onlySafe === true;
    if (item.state !== "open" || resume === null || isUnsafe) left.push(item);
    else {
      const key = nameGroup(item, request);
      const group = groups.get(key) ?? { what: item.action ?? item.node, graph: item.graph_id, planned: [] };
      groups.set(key, group);
      group.planned.push({ item, resume, args: selectArgs(request) });
    }
  }
  const all = [...groups.values()];
  return { groups: all, planned: all.flatMap(({ planned }) => planned), left };
}

/** Undefined to continue at a breakpoint; null if the request does not allow the decision. */
function buildResume(request: Request, decision: BulkDecision): Json | null | undefined {
  if (decision.type === "approve") return request.kind === "breakpoint" ? undefined : buildApproval(request);
  if (request.kind !== "actions") return null;
  const message = decision.message.trim();
  const rejection: Decision = message === "" ? { type: "reject" } : { type: "reject", message };
  const built = answerAll(request.question, rejection);
  return built.ok ? built.value : null;
}

/** Items with the same key are one group. */
function nameGroup(item: InboxItem, request: Request): string {
  const names = request.kind === "actions" ? request.actions.map(({ name }) => name) : [item.node];
  return JSON.stringify([item.graph_id, request.kind, ...names]);
}

function selectArgs(request: Request): unknown {
  if (request.kind !== "actions") return "";
  return request.actions.length === 1
    ? request.actions[0]?.args
    : request.actions.map(({ name, args }) => ({ name, args }));
}
