// Route of the page Settings.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../root-route.ts";

export const settingsRoute = createRoute({ getParentRoute: () => rootRoute, path: "/settings" }).lazy(() =>
  import("./page.tsx").then(({ page }) => page),
);
