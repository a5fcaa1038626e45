// Narrow: whether the list has space for columns.
import { useSyncExternalStore } from "react";

const query = window.matchMedia("(max-width: 860px)");

function subscribe(callback: () => void): () => void {
  query.addEventListener("change", callback);
  return () => query.removeEventListener("change", callback);
}

export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches);
}
