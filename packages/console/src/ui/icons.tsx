// Icons: drawn here, 16 × 16, in the text colour. Decoration only: icon-only controls have their own label.
import type { ReactNode } from "react";

const PATHS = {
  inbox: "M2.5 9.5 4 3h8l1.5 6.5v3.5h-11zM2.5 9.5h3.2l.8 1.6h3l.8-1.6h3.2",
  threads: "M2.5 3h11v7.5H8L5 13v-2.5H2.5z",
  traces: "M2.5 3.5h6M5 8h6M7.5 12.5h6",
  assistants: "M8 2.5v2M4 4.5h8v7H4zM6.5 7.5v1M9.5 7.5v1M2 7v2M14 7v2M6 13.5h4",
  store:
    "M3 4.2c0-.9 2.2-1.7 5-1.7s5 .8 5 1.7-2.2 1.7-5 1.7-5-.8-5-1.7zM3 4.2v7.6c0 .9 2.2 1.7 5 1.7s5-.8 5-1.7V4.2M3 8c0 .9 2.2 1.7 5 1.7S13 8.9 13 8",
  crons: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 5v3l2 1.5",
  policies: "M8 2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.5 8 7.2 9.8 10.5 6.2",
  collector: "M2.5 3h11l-4 5v5l-3-1.5V8z",
  settings: "M3 4.5h5M11 4.5h2M3 11.5h2M8 11.5h5M8 2.8v3.4h2.5V2.8zM5.5 9.8v3.4H8V9.8z",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  chevron: "M6 3.5 10.5 8 6 12.5",
  back: "M9.5 3.5 5 8l4.5 4.5",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.2 1.2a2.8 2.8 0 0 1-4-4L5 7.5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2",
  clock: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 5v3l2 1.5",
  person: "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.5-2.8 2.5-4 5-4s4.5 1.2 5 4",
  sun: "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  terminal: "M2.5 3.5h11v9h-11zM5 6.5 7 8l-2 1.5M8.5 10H11",
  warning: "M8 2.5 14 13H2zM8 6.5v3M8 11.2v.3",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  keyboard: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.5h6",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.5 3.5l-3 3 3 3",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
