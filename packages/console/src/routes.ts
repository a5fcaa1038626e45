// Routes: the table of pages. A page's folder has `route.ts` (path and URL parameters, small, loaded at start) and
// `page.tsx` (the component, loaded on first use).
import { createRoute, redirect } from "@tanstack/react-router";
import { assistantsRoute } from "./pages/assistants/route.ts";
import { answeredRoute } from "./pages/answered/route.ts";
import { collectorRoute } from "./pages/collector/route.ts";
import { cronsRoute } from "./pages/crons/route.ts";
import { inboxItemRoute, inboxRoute } from "./pages/inbox/route.ts";
import { policiesRoute } from "./pages/policies/route.ts";
import { settingsRoute } from "./pages/settings/route.ts";
import { storeRoute } from "./pages/store/route.ts";
import { threadRoute } from "./pages/thread/route.ts";
import { threadsRoute } from "./pages/threads/route.ts";
import { traceRoute } from "./pages/trace/route.ts";
import { tracesRoute } from "./pages/traces/route.ts";
import { rootRoute } from "./browser/root-route.ts";

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  beforeLoad: () => {
    // The router expects a thrown redirect.
    throw redirect({ to: "/inbox" });
  },
});

export const routeTree = rootRoute.addChildren([
  homeRoute,
  inboxRoute.addChildren([inboxItemRoute]),
  answeredRoute,
  threadsRoute,
  threadRoute,
  traceRoute,
  tracesRoute,
  assistantsRoute,
  storeRoute,
  cronsRoute,
  policiesRoute,
  collectorRoute,
  settingsRoute,
]);
