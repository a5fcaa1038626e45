// Route of the page Settings, with the search of the list.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  validateSearch: (search) => readTexts(search, ["find", "only"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
