// Press: between the press and the release of a pointer, data that arrives is not shown.
// A button that moves in between gets no click: the browser sends it to the common parent of both elements.
// Invariants:
//   press.1. Changes of queries wait until the click after a release has been delivered.
//   - They wait PRESS_MS_MAX at most: a release outside the window is never seen.
import { notifyManager } from "@tanstack/react-query";

const PRESS_MS_MAX = 10_000;

let waiting: (() => void)[] = [];
let limit: ReturnType<typeof setTimeout> | null = null;

function release(): void {
  if (limit === null) return;
  clearTimeout(limit);
  limit = null;
  const late = waiting;
  waiting = [];
  for (const show of late) show();
}

/** Called once, before the first query. */
export function stayStillWhilePressed(): void {
  notifyManager.setScheduler((show) => {
    if (limit === null) setTimeout(show, 0);
    else waiting.push(show);
  });
  window.addEventListener("pointerdown", () => (limit ??= setTimeout(release, PRESS_MS_MAX)), true);
  for (const end of ["pointerup", "pointercancel", "dragend"]) {
    window.addEventListener(end, () => setTimeout(release, 0), true); // the click comes first
  }
}
