// Route of the thread list, with its filters.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const threadsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/threads",
  validateSearch: (search) => readTexts(search, ["text", "status", "graph", "metadata", "id", "sort"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
