// Navigation: the pages that the bar at the side leads to, in its order. A page is added here, in routes.ts, and as a
// folder below pages/.
import type { IconName } from "./ui/icons.tsx";

export interface Destination {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Second key after `g`. */
  readonly key: string;
  /** Where a rule is drawn above it. */
  readonly group?: boolean;
}

export const DESTINATIONS = [
  { to: "/inbox", label: "Inbox", icon: "inbox", key: "i" },
  { to: "/threads", label: "Threads", icon: "threads", key: "t" },
  { to: "/traces", label: "Traces", icon: "traces", key: "r" },
  { to: "/assistants", label: "Assistants", icon: "assistants", key: "a", group: true },
  { to: "/store", label: "Store", icon: "store", key: "s" },
  { to: "/crons", label: "Crons", icon: "crons", key: "c" },
  { to: "/collector", label: "Collector", icon: "collector", key: "l", group: true },
  { to: "/settings", label: "Settings", icon: "settings", key: "," },
] as const satisfies readonly Destination[];
