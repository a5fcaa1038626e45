// Route of the page Collector, with the sender that is told how to send here.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const collectorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/collector",
  validateSearch: (search) => readTexts(search, ["sender"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
