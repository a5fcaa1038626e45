// Navigation: the pages in the sidebar, in order. A new page needs an entry here, one in routes.ts, and a folder below
// pages/.
import type { IconName } from "./ui/icons.tsx";

export interface Destination {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Second key after `g`. */
  readonly key: string;
  /** Draws a divider above. */
  readonly group?: boolean;
}

export const DESTINATIONS = [
  { to: "/inbox", label: "Inbox", icon: "inbox", key: "i" },
  { to: "/answered", label: "Answered", icon: "check", key: "d" },
  { to: "/threads", label: "Threads", icon: "threads", key: "t" },
  { to: "/traces", label: "Traces", icon: "traces", key: "r" },
  { to: "/assistants", label: "Assistants", icon: "assistants", key: "a", group: true },
  { to: "/store", label: "Store", icon: "store", key: "s" },
  { to: "/crons", label: "Crons", icon: "crons", key: "c" },
  { to: "/policies", label: "Policies", icon: "policies", key: "p" },
  { to: "/collector", label: "Collector", icon: "collector", key: "l", group: true },
  { to: "/settings", label: "Settings", icon: "settings", key: "," },
] as const satisfies readonly Destination[];
