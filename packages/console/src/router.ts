// Router: the routes with their frame, below the console's base path.
import { createRouter, defaultParseSearch } from "@tanstack/react-router";
import { CONSOLE_PATH } from "./browser/address.ts";
import { Layout, NotFound, PageFailure } from "./layout.tsx";
import { Loading } from "./ui/controls.tsx";
import { dropInvalid } from "./hooks/search-params.ts";
import { rootRoute } from "./browser/root-route.ts";
import { routeTree } from "./routes.ts";

let shownPage = "";

/**
 * Restores the scroll position of a revisited page. Not within a page, where a list has just scrolled to the selection.
 */
function isAnotherPage(pathname: string): boolean {
  const path = pathname.slice(CONSOLE_PATH.length);
  const page = path.startsWith(INBOX) ? INBOX : path; // items are panes of one page
  const isAnother = page !== shownPage;
  shownPage = page;
  return isAnother;
}

const INBOX = "/inbox";

rootRoute.update({ component: Layout, notFoundComponent: NotFound });

export const router = createRouter({
  routeTree,
  basepath: CONSOLE_PATH,
  parseSearch: (text) => dropInvalid(defaultParseSearch(text)),
  defaultPreload: "intent",
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailure,
  scrollRestoration: ({ location }) => isAnotherPage(location.pathname),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
