// Inbox keys: the keyboard shortcuts of the list.
import { READ_ONLY, useReadOnly } from "../../../api/caller.ts";
import { type ListedItem, keyOf } from "../../../data/inbox/item.ts";
import { useShortcuts } from "../../../hooks/shortcuts.ts";
import { showToast } from "../../../ui/toast.tsx";
import type { Selection } from "../bulk/selection.ts";
import { type IntentKind, intent } from "../model/intent.ts";
import type { Cursor } from "./use-cursor.ts";

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
  readonly onBulk: (items: readonly ListedItem[]) => void;
}): void {
  const { current, open, move } = cursor;
  const readOnly = useReadOnly();
  /** Decision keys open the item first, so that it is visible. */
  const decide = (kind: IntentKind) => (): void => {
    if (readOnly) return void showToast(READ_ONLY, { tone: "amber" });
    if (kind === "approve" && selection.chosen.length > 0) return onBulk(selection.chosen);
    if (current === undefined) return;
    intent.set({ key: keyOf(current), kind });
    open(current);
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
    { keys: "Enter", label: "Open", run: () => current !== undefined && open(current) },
    { keys: "x", label: "Select", run: () => current !== undefined && selection.toggle(keyOf(current)) },
    {
      keys: "Shift+x",
      label: "Extend the selection to this item",
      run: () => current !== undefined && selection.extend(keyOf(current)),
    },
    { keys: "a", label: "Approve (all selected)", run: decide("approve") },
    { keys: "e", label: "Edit", run: decide("edit") },
    { keys: "r", label: "Reject, with a message", run: decide("reject") },
    { keys: "m", label: "Respond with a message", run: decide("respond") },
    { keys: "i", label: "Ignore", run: decide("ignore") },
    { keys: "c", label: "Claim or release", run: decide("claim") },
    { keys: "/", label: "Search", run: () => document.getElementById("inbox-search")?.focus() },
    { keys: "Escape", label: "Close, or clear the selection", inFields: true, run: escape },
  ]);
}
