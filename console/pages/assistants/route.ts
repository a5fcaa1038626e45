// Route of the page Assistants: the chosen graph or assistant, the tab, and where a run that is tried would stop.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const assistantsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/assistants",
  validateSearch: (search) =>
    readTexts(search, ["find", "graph", "assistant", "tab", "node", "version", "before", "after"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
