// Route of the page Crons.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../root-route.ts";

export const cronsRoute = createRoute({ getParentRoute: () => rootRoute, path: "/crons" }).lazy(() =>
  import("./page.tsx").then(({ page }) => page),
);
