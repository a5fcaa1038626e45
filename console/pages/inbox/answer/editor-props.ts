import type { InboxItem } from "../../../../src/api/inbox.ts";
import type { Draft } from "../model/draft.ts";
import type { IntentKind } from "../model/intent.ts";

/** Props of an editor: it reports its draft and requests the confirmation. */
export interface EditorProps {
  readonly item: InboxItem;
  /** Opens the confirmation. */
  readonly onReview: (draft: Draft) => void;
  /** The pending intent of a key press in the list, consumed once. */
  readonly wanted: IntentKind | null;
}
