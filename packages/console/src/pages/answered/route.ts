// Route of the page Answered: its filters.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const answeredRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/answered",
  validateSearch: (search) => readTexts(search, ["text", "action", "by", "via", "graph", "since"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
