// Route of the page Collector, with the selected sender.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const collectorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/collector",
  validateSearch: (search) => readTexts(search, ["sender"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
