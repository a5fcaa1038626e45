// Route of the page Assistants: the chosen graph or assistant, and the tab.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../parts/search-params.ts";
import { rootRoute } from "../../root-route.ts";

export const assistantsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/assistants",
  validateSearch: (search) => readTexts(search, ["graph", "assistant", "tab", "node", "version"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
