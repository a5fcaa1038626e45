// Route of the page Crons: what the list is narrowed to, and the cron that is chosen.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const cronsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/crons",
  validateSearch: (search) => readTexts(search, ["assistant", "enabled", "thread", "cron"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
