// Intent: the pending key press of the list for the item that it opens. That item consumes it once.
import { createValue } from "../../hooks/value.ts";

export type IntentKind = "approve" | "edit" | "reject" | "respond" | "ignore";

export const intent = createValue<{ readonly key: string; readonly kind: IntentKind } | null>(null);

export function takeIntent(key: string): IntentKind | null {
  const wanted = intent.get();
  if (wanted?.key !== key) return null;
  intent.set(null);
  return wanted.kind;
}
