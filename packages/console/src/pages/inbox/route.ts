// Routes of the inbox: the list with its filters, and one item beside it. Every view has a URL.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../browser/root-route.ts";
import { readFilters } from "./list/filters.ts";

export const inboxRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/inbox",
  validateSearch: readFilters,
}).lazy(() => import("./page.tsx").then(({ page }) => page));

export const inboxItemRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: "$threadId/$interruptId",
});
