// Badge: the number of pending items, visible from other tabs: in the title and on the icon of the page.
import { createValue } from "../hooks/value.ts";

/** "3", "100+", or empty for none. */
export const badge = createValue("");

const NAME = "Holdpoint";
const ICON_SIZE = 32;
let title = NAME;

/** @param page name of the current page. */
export function setTitle(page: string): void {
  title = `${page} · ${NAME}`;
  show();
}

badge.subscribe(() => {
  show();
  drawIcon(badge.get() !== "");
});

function show(): void {
  const waiting = badge.get();
  document.title = waiting === "" ? title : `(${waiting}) ${title}`;
}

function drawIcon(waiting: boolean): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const context = document.createElement("canvas").getContext("2d");
  if (link === null || context === null) return;
  const { canvas } = context;
  canvas.width = ICON_SIZE;
  canvas.height = ICON_SIZE;
  context.fillStyle = "#2f4bd6";
  context.beginPath();
  context.roundRect(0, 0, 32, 32, 8);
  context.fill();
  context.fillStyle = "#fff";
  context.fillRect(9, 8, 5, 16);
  context.fillRect(18, 8, 5, 16);
  if (waiting) {
    context.fillStyle = "#f0a020";
    context.beginPath();
    context.arc(24, 8, 8, 0, 2 * Math.PI);
    context.fill();
  }
  link.type = "image/png";
  link.href = canvas.toDataURL("image/png");
}
