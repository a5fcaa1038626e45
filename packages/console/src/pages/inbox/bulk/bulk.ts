// Bulk: the selected items that one decision covers, and the answer for each. Pure.
import { answerAll, type Decision } from "@holdpoint/api/dialects.ts";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { Json } from "../../../json/json.ts";
import { buildApproval, readRequest, type Request } from "../../../answering/model/request.ts";

export type BulkKind = "approve" | "reject" | "assign";

export type BulkDecision = { readonly type: "approve" } | { readonly type: "reject"; readonly message: string };

export interface Planned {
  readonly item: InboxItem;
  /** Undefined to continue at a breakpoint. */
  readonly resume: Json | undefined;
  /** Arguments of the request, for display. */
  readonly args: unknown;
}

export interface Plan {
  /** "refund", or the name of the node at breakpoints. */
  readonly what: string;
  readonly planned: readonly Planned[];
  /** Items of another kind than the first one that allows the decision (bulk-dialog.1), or without it. */
  readonly left: readonly InboxItem[];
}

export function buildPlan(items: readonly InboxItem[], decision: BulkDecision): Plan {
  const planned: Planned[] = [];
  const left: InboxItem[] = [];
  let like: string | null = null;
  let what = "nothing";
  for (const item of items) {
    const request = readRequest(item);
    const resume = buildResume(request, decision);
    const group = nameGroup(item, request);
    if (item.state !== "open" || resume === null || (like !== null && group !== like)) left.push(item);
    else {
      if (like === null) what = item.action ?? item.node;
      like = group;
      planned.push({ item, resume, args: selectArgs(request) });
    }
  }
  return { what, planned, left };
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

/** Items with the same key can be decided together. */
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
