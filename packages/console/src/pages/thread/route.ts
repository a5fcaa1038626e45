// Route of one thread: the URL has the tab, the selected checkpoints and the breakpoints of the next run.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const threadRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/threads/$threadId",
  validateSearch: (search) => readTexts(search, ["tab", "checkpoint", "with", "node", "before", "after", "run"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
