// What all editors of an answer are given.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { Json } from "../json/json.ts";
import type { Draft } from "./model/draft.ts";
import type { IntentKind } from "./model/intent.ts";

/** Props of an editor: it reports its draft. */
export interface EditorProps {
  readonly item: InboxItem;
  /** Opens the confirmation, or sends. */
  readonly onReview: (draft: Draft) => void;
  /** Whether a confirmation follows. */
  readonly confirms: boolean;
  /** The answer that was undone, to start from. */
  readonly undone: Json | undefined;
  /** The pending intent of a key press in the list, consumed once. */
  readonly wanted: IntentKind | null;
}

export function sendLabel(confirms: boolean): string {
  return confirms ? "Review and send" : "Send";
}
