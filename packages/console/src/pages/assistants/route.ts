// Route of the page Assistants: the selected graph or assistant, the tab, and the breakpoints of a test run.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const assistantsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/assistants",
  validateSearch: (search) =>
    readTexts(search, ["find", "graph", "assistant", "tab", "node", "version", "before", "after"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
