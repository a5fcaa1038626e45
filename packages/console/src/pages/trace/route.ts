// Route of one trace: the URL has the selected span and its view.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const traceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/traces/$traceId",
  validateSearch: (search) => readTexts(search, ["span", "view", "find", "shape", "with"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
