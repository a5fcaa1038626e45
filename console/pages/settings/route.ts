// Route of the page Settings, with what the list is narrowed to.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  validateSearch: (search) => readTexts(search, ["find", "only"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
