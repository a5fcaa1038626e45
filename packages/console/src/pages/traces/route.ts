// Route of the trace list, with its filters.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const tracesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/traces",
  validateSearch: (search) =>
    readTexts(search, ["q", "name", "project", "model", "tool", "thread", "status", "slow", "since", "from", "to"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
