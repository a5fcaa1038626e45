// Route of the page Threads.
import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../root-route.ts";

export const threadsRoute = createRoute({ getParentRoute: () => rootRoute, path: "/threads" }).lazy(() =>
  import("./page.tsx").then(({ page }) => page),
);
