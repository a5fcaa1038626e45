// Bulk: the selected items that one approval covers, and the answer for each. Pure.
import type { ListedItem } from "../../../data/inbox/item.ts";
import type { Json } from "../../../json/json.ts";
import { approvalOf, readRequest, type Request } from "../model/request.ts";

export interface Planned {
  readonly item: ListedItem;
  /** Undefined to continue at a breakpoint. */
  readonly resume: Json | undefined;
  /** Arguments to approve, for display. */
  readonly args: unknown;
}

export interface Plan {
  /** "refund", or the name of the node at breakpoints. */
  readonly what: string;
  readonly taken: readonly Planned[];
  /** Of another kind than the first approvable item (bulk-dialog.1), or without an approvable action. */
  readonly left: readonly ListedItem[];
}

export function planOf(items: readonly ListedItem[]): Plan {
  const taken: Planned[] = [];
  const left: ListedItem[] = [];
  let like: string | null = null;
  let what = "nothing";
  for (const item of items) {
    const request = readRequest(item);
    const approval = request.kind === "breakpoint" ? undefined : approvalOf(request);
    const group = groupOf(item, request);
    if (item.state !== "open" || approval === null || (like !== null && group !== like)) left.push(item);
    else {
      if (like === null) what = item.action ?? item.node;
      like = group;
      taken.push({ item, resume: approval, args: argsOf(request) });
    }
  }
  return { what, taken, left };
}

/** Items with the same key can be approved together. */
function groupOf(item: ListedItem, request: Request): string {
  const names = request.kind === "actions" ? request.actions.map(({ name }) => name) : [item.node];
  return JSON.stringify([item.graph_id, request.kind, ...names]);
}

function argsOf(request: Request): unknown {
  if (request.kind !== "actions") return "";
  return request.actions.length === 1
    ? request.actions[0]?.args
    : request.actions.map(({ name, args }) => ({ name, args }));
}
