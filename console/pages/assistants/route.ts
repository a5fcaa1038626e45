// Route of the page Assistants.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../root-route.ts";

export const assistantsRoute = createRoute({ getParentRoute: () => rootRoute, path: "/assistants" }).lazy(() =>
  import("./page.tsx").then(({ page }) => page),
);
