// Route of the page Store: the namespace, the search in it, and the selected item.
import { createRoute } from "@tanstack/react-router";
import { readTexts } from "../../hooks/search-params.ts";
import { rootRoute } from "../../browser/root-route.ts";

export const storeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/store",
  // `in` is the namespace of the search, `ns` with `key` the item; both are labels joined by dots.
  validateSearch: (search) => readTexts(search, ["in", "find", "filter", "ns", "key"]),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
