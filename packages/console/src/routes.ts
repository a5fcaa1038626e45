// Routes: the table of pages, with the parameters of their URLs. A page's component, `page.tsx` in its folder, is loaded
// on first use.
import { createRoute, redirect } from "@tanstack/react-router";
import { rootRoute } from "./browser/root-route.ts";
import { readTexts } from "./hooks/search-params.ts";
import { readFilters } from "./pages/inbox/list/filters.ts";

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  beforeLoad: () => {
    // The router expects a thrown redirect.
    throw redirect({ to: "/inbox" });
  },
});

/** The inbox: the list with its filters, and one item beside it. Every view has a URL. */
const inboxRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/inbox",
  validateSearch: readFilters,
}).lazy(() => import("./pages/inbox/page.tsx").then(({ page }) => page));

const inboxItemRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: "$threadId/$interruptId",
});

/** Answered: its filters. */
const answeredRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/answered",
  validateSearch: (search) => readTexts(search, ["text", "action", "by", "via", "graph", "since"]),
}).lazy(() => import("./pages/answered/page.tsx").then(({ page }) => page));

/** The thread list, with its filters. */
const threadsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/threads",
  validateSearch: (search) => readTexts(search, ["text", "status", "graph", "metadata", "id", "sort"]),
}).lazy(() => import("./pages/threads/page.tsx").then(({ page }) => page));

/** One thread: the URL has the tab, the selected checkpoints and the breakpoints of the next run. */
const threadRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/threads/$threadId",
  validateSearch: (search) => readTexts(search, ["tab", "checkpoint", "with", "node", "before", "after", "run"]),
}).lazy(() => import("./pages/thread/page.tsx").then(({ page }) => page));

/** One trace: the URL has the selected span and its view. */
const traceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/traces/$traceId",
  validateSearch: (search) => readTexts(search, ["span", "view", "find", "shape", "with"]),
}).lazy(() => import("./pages/trace/page.tsx").then(({ page }) => page));

/** The trace list, with its filters. */
const tracesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/traces",
  validateSearch: (search) =>
    readTexts(search, ["q", "name", "project", "model", "tool", "thread", "status", "slow", "since", "from", "to"]),
}).lazy(() => import("./pages/traces/page.tsx").then(({ page }) => page));

/** Assistants: the selected graph or assistant, the tab, and the breakpoints of a test run. */
const assistantsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/assistants",
  validateSearch: (search) =>
    readTexts(search, ["find", "graph", "assistant", "tab", "node", "version", "before", "after"]),
}).lazy(() => import("./pages/assistants/page.tsx").then(({ page }) => page));

/** Store: the namespace, the search in it, and the selected item. */
const storeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/store",
  // `in` is the namespace of the search, `ns` with `key` the item; both are labels joined by dots.
  validateSearch: (search) => readTexts(search, ["in", "find", "filter", "ns", "key"]),
}).lazy(() => import("./pages/store/page.tsx").then(({ page }) => page));

/** Crons: the filters and the selected cron. */
const cronsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/crons",
  validateSearch: (search) => readTexts(search, ["assistant", "enabled", "thread", "cron"]),
}).lazy(() => import("./pages/crons/page.tsx").then(({ page }) => page));

const policiesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/policies",
}).lazy(() => import("./pages/policies/page.tsx").then(({ page }) => page));

/** Collector, with the selected sender. */
const collectorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/collector",
  validateSearch: (search) => readTexts(search, ["sender"]),
}).lazy(() => import("./pages/collector/page.tsx").then(({ page }) => page));

/** Settings, with the search of the list. */
const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  validateSearch: (search) => readTexts(search, ["find", "only"]),
}).lazy(() => import("./pages/settings/page.tsx").then(({ page }) => page));

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
