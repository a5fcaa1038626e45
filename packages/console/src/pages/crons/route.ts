// Route of the page Crons: the filters and the selected cron.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const cronsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/crons",
  validateSearch: (search) => readTexts(search, ["assistant", "enabled", "thread", "cron"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
