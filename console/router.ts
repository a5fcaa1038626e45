// Router: the routes with their frame, at the address that the console is served from.
import { createRouter } from "@tanstack/react-router";
import { CONSOLE_PATH } from "./address.ts";
import { Layout, NotFound, PageFailure } from "./layout.tsx";
import { Loading } from "./parts/controls.tsx";
import { rootRoute } from "./root-route.ts";
import { routeTree } from "./routes.ts";

rootRoute.update({ component: Layout, notFoundComponent: NotFound });

export const router = createRouter({
  routeTree,
  basepath: CONSOLE_PATH,
  defaultPreload: "intent",
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailure,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
