// Route of the page Store.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../root-route.ts";

export const storeRoute = createRoute({ getParentRoute: () => rootRoute, path: "/store" }).lazy(() =>
  import("./page.tsx").then(({ page }) => page),
);
