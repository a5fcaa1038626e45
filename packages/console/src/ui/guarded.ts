// Guarded: an action of a keyboard shortcut, refused with the reason if the role does not allow it.
import { findRefusal } from "../api/caller.ts";
import { showToast } from "./toast.tsx";

/** @param event as `x-access` of the API names it */
export function guarded(event: string, run: () => void): () => void {
  return () => {
    const refusal = findRefusal(event);
    if (refusal === null) run();
    else showToast(refusal, { tone: "amber" });
  };
}
