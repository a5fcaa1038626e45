// Main: starts the console in its page.
// The pieces:
//   pages/      one folder per page
//   frames/     lists, dialogs and drawings that several pages share
//   data/       the inbox's live list, and answers on their way
//   answering/  the answer of one item: editors, confirmation
//   api/        the client of the API
//   graph/      drawings of graphs, and choices of assistants
//   messages/   conversations
//   charts/     charts
//   json/       views, editors and forms of JSON
//   ui/         basic elements
//   hooks/      shortcuts, preferences, values in the URL
//   browser/    title, icon and address of the tab; pages that stay still under a press
//   styles/     style sheets of all pages
//   build.ts    bundles the console
//   routes.ts   the routes of all pages
//   layout.tsx  the frame around every page, with navigation.ts, palette.tsx, account.tsx, and the dialogs
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider, createRouter, defaultParseSearch } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiProblem } from "./api/problem.ts";
import { stayStillWhilePressed } from "./browser/press.ts";
import { sendOnLeave } from "./data/inbox/outbox.ts";
import { applyTheme } from "./hooks/preferences.ts";
import { loadViews } from "./hooks/views.ts";
import { startShortcuts } from "./hooks/shortcuts.ts";
import { CONSOLE_PATH } from "./browser/address.ts";
import { Layout, NotFound, PageFailure } from "./layout.tsx";
import { Loading } from "./ui/controls.tsx";
import { dropInvalid } from "./hooks/search-params.ts";
import { rootRoute } from "./browser/root-route.ts";
import { routeTree } from "./routes.ts";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/layout.css";
import "./styles/lists.css";
import "./styles/split.css";

// The routes with their frame, below the console's base path.

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

const router = createRouter({
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

const RETRIES_MAX = 2;
const FRESH_MS = 5000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // A refusal is final; a failed connection may recover.
      retry: (failures, error) =>
        failures < RETRIES_MAX && (!(error instanceof ApiProblem) || error.status === 0 || error.status === 503),
    },
  },
});

// Libraries that create style elements (the scroll lock of dialogs) use the page's nonce.
Object.assign(globalThis, { __webpack_nonce__: document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce });
applyTheme();
loadViews();
startShortcuts();
stayStillWhilePressed();
sendOnLeave();
const place = document.getElementById("root");
if (place === null) throw new Error("the page has no #root");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
