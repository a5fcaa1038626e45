// Route of the page Policies.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../browser/root-route.ts";

export const policiesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/policies",
}).lazy(() => import("./page.tsx").then(({ page }) => page));
