// Inbox keys: the keyboard shortcuts of the list.
import { READ_ONLY, useReadOnly } from "../../../api/caller.ts";
import { problemMessage } from "../../../api/problem.ts";
import { claimItem, releaseItem } from "../../../data/inbox/calls.ts";
import { type ListedItem, buildKey } from "../../../data/inbox/item.ts";
import { markUnseen } from "../../../data/inbox/seen.ts";
import { useShortcuts } from "../../../hooks/shortcuts.ts";
import { showToast } from "../../../ui/toast.tsx";
import type { BulkKind } from "../bulk/bulk.ts";
import type { Selection } from "../bulk/selection.ts";
import { type IntentKind, intent } from "../../../answering/model/intent.ts";
import type { Cursor } from "./use-cursor.ts";
import { useMe } from "./use-list.ts";

/** Another person's claim stays: a key press releases only the own one. */
async function toggleClaim(item: ListedItem, me: string): Promise<void> {
  const isMine = item.claim?.by === me;
  try {
    await (isMine ? releaseItem(item, false) : claimItem(item)); // the list follows the event
    showToast(isMine ? "Released." : "Claimed.");
  } catch (error) {
    showToast(problemMessage(error), { tone: "amber" });
  }
}

export function useInboxKeys({
  cursor,
  selection,
  isOpen,
  onClose,
  onBulk,
}: {
  readonly cursor: Cursor;
  readonly selection: Selection;
  /** An item is open beside the list. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onBulk: (kind: BulkKind) => void;
}): void {
  const { current, open, move } = cursor;
  const readOnly = useReadOnly();
  const me = useMe();
  const allowed = (run: () => void) => (): void => {
    if (readOnly) showToast(READ_ONLY, { tone: "amber" });
    else run();
  };
  /** Decision keys open the item first, so that it is visible. An open one has its own keys once it is loaded. */
  const decide = (kind: IntentKind, bulk?: BulkKind): (() => void) =>
    allowed(() => {
      if (bulk !== undefined && selection.chosen.length > 0) return onBulk(bulk);
      if (current === undefined || isOpen) return;
      intent.set({ key: buildKey(current), kind });
      open(current);
    });
  const unread = (): void => {
    if (current === undefined) return;
    if (isOpen) onClose();
    markUnseen(buildKey(current));
  };
  const escape = (): void => {
    const focused = document.activeElement;
    if (focused instanceof HTMLElement && focused.matches("input, textarea, select, [contenteditable]")) focused.blur();
    else if (isOpen) onClose();
    else selection.clear();
  };
  useShortcuts("Inbox", [
    { keys: "j", label: "Next", run: () => move(1) },
    { keys: "k", label: "Previous", run: () => move(-1) },
    { keys: "ArrowDown", label: "Next", run: () => move(1) },
    { keys: "ArrowUp", label: "Previous", run: () => move(-1) },
    { keys: "Home", label: "First", run: () => move(-Infinity) },
    { keys: "End", label: "Last", run: () => move(Infinity) },
    { keys: "n", label: "Open the next unread", run: cursor.openUnread },
    { keys: "Shift+u", label: "Mark as unread", run: unread },
    { keys: "Enter", label: "Open", run: () => current !== undefined && open(current) },
    { keys: "x", label: "Select", run: () => current !== undefined && selection.toggle(buildKey(current)) },
    { keys: "*", label: "Select all", run: selection.all },
    {
      keys: "Shift+x",
      label: "Extend the selection to this item",
      run: () => current !== undefined && selection.extend(buildKey(current)),
    },
    { keys: "a", label: "Approve (all selected)", run: decide("approve", "approve"), once: true },
    { keys: "e", label: "Edit", run: decide("edit") },
    { keys: "r", label: "Reject, with a message (all selected)", run: decide("reject", "reject"), once: true },
    { keys: "m", label: "Respond with a message", run: decide("respond") },
    { keys: "i", label: "Ignore", run: decide("ignore"), once: true },
    { keys: "c", label: "Claim or release", run: allowed(() => current && void toggleClaim(current, me)), once: true },
    { keys: "w", label: "Assign (all selected)", run: allowed(() => onBulk("assign")), once: true },
    { keys: "/", label: "Search", run: () => document.getElementById("inbox-search")?.focus() },
    { keys: "Escape", label: "Close, or clear the selection", inFields: true, run: escape },
  ]);
}
