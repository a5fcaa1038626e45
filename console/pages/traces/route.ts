// Route of the page Traces.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../root-route.ts";

export const tracesRoute = createRoute({ getParentRoute: () => rootRoute, path: "/traces" }).lazy(() =>
  import("./page.tsx").then(({ page }) => page),
);
