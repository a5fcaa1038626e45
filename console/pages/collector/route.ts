// Route of the page Collector.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../root-route.ts";

export const collectorRoute = createRoute({ getParentRoute: () => rootRoute, path: "/collector" }).lazy(() =>
  import("./page.tsx").then(({ page }) => page),
);
