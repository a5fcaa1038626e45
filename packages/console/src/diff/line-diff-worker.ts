// Line-diff worker: compares two large values off the page's thread. One reply per request, in order.
import { cutLines, lineChanges, splitLines, type LineChange } from "./line-diff.ts";

const CHANGES_MAX = 200;
const LINES_MAX = 50;

self.addEventListener("message", ({ data }: MessageEvent<{ readonly before: unknown; readonly after: unknown }>) => {
  const changes = lineChanges(splitLines(data.before), splitLines(data.after));
  const reply = { count: changes.length, changes: changes.slice(0, CHANGES_MAX).map(cut) };
  self.postMessage(reply, { transfer: [] });
});

function cut({ line, removed, added }: LineChange): LineChange {
  const pairs = Array.from({ length: Math.min(LINES_MAX, Math.max(removed.length, added.length)) }, (_, at) =>
    cutLines(removed[at] ?? "", added[at] ?? ""),
  );
  return {
    line,
    removed: pairs.map(([old]) => old).slice(0, removed.length),
    added: pairs.map(([, young]) => young).slice(0, added.length),
  };
}
