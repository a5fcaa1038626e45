// Layout: the frame around every page: navigation, name, theme, shortcuts, dialogs, toasts.
import { Link, Outlet, useNavigate, type ErrorComponentProps } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { isNotLoaded } from "./api/problem.ts";
import { Account } from "./account.tsx";
import { useCallerLoaded } from "./api/caller.ts";
import { keyRequired, signInAt } from "./api/credentials.ts";
import { badge } from "./browser/badge.ts";
import { useInboxLive } from "./data/inbox/live.ts";
import { useOwnConsole } from "./data/own-console.ts";
import { OutboxView } from "./data/inbox/outbox-view.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import { DESTINATIONS } from "./navigation.ts";
import { EmptyState, Failure, IconButton } from "./ui/controls.tsx";
import { Icon } from "./ui/icons.tsx";
import { SignInDialog } from "./sign-in-dialog.tsx";
import { Palette } from "./palette.tsx";
import { PreferencesDialog } from "./preferences-dialog.tsx";
import { ShortcutHelp } from "./ui/shortcut-help.tsx";
import { SUBMIT, useShortcuts } from "./hooks/shortcuts.ts";
import { Toasts, showToast } from "./ui/toast.tsx";
import { type View, views } from "./hooks/views.ts";
import { Dialog } from "./ui/dialog.tsx";
import { useValue } from "./hooks/value.ts";
import { ViewDialog } from "./frames/save-view.tsx";

type Open = "help" | "palette" | "preferences" | "more" | null;

/** Pages with a tab of their own on a phone; More has the others. */
const TABS = 4;

function nameTab(isGroup: boolean, at: number): string | undefined {
  const names = [isGroup ? "nav-group" : "", at < TABS ? "" : "nav-rest"].filter((name) => name !== "");
  return names.length === 0 ? undefined : names.join(" ");
}

export function Layout(): ReactNode {
  const [open, setOpen] = useState<Open>(null);
  const navigate = useNavigate();
  useShortcuts("Everywhere", [
    { keys: "?", label: "Show keyboard shortcuts", run: () => setOpen("help") },
    {
      keys: "Mod+k",
      label: "Find a page, an action, an item, a thread",
      run: () => setOpen("palette"),
      inFields: true,
    },
    SUBMIT,
    ...DESTINATIONS.map(({ key, label, to }) => ({
      keys: `g ${key}`,
      label: `Go to ${label}`,
      run: () => void navigate({ to }),
    })),
  ]);
  const close = (): void => setOpen(null);
  useCallerLoaded();
  useOwnConsole();
  useInboxLive();
  const signIn = useValue(signInAt);
  const asksKey = useValue(keyRequired);
  const isOutside = asksKey || signIn !== null;
  return (
    <>
      {isOutside ? <Entrance signIn={asksKey ? null : signIn} /> : null}
      {/* It stays: who signs in again after the end of a session goes on where they were. */}
      <div className="frame" hidden={isOutside}>
        <a className="skip-link" href="#main">
          Skip to content
        </a>
        <Navigation onOpen={setOpen} />
        <main id="main" className="main" tabIndex={-1}>
          <Outlet />
        </main>
        <div className="notices">
          <Toasts />
          <OutboxView />
        </div>
        {open === "more" ? <More onClose={close} onOpen={setOpen} /> : null}
        {open === "help" ? <ShortcutHelp onClose={close} /> : null}
        {open === "palette" ? <Palette onClose={close} onOpen={setOpen} /> : null}
        {open === "preferences" ? <PreferencesDialog onClose={close} /> : null}
      </div>
    </>
  );
}

/** Before sign-in nothing of the server is on the page but the product's name. @param signIn null: a key is asked for */
function Entrance({ signIn }: { readonly signIn: string | null }): ReactNode {
  return (
    <main className="entrance">
      <div className="nav-brand">
        <span className="nav-mark" aria-hidden="true" />
        <span>Holdpoint</span>
      </div>
      {signIn === null ? <KeyDialog /> : <SignInDialog path={signIn} />}
    </main>
  );
}

function Navigation({ onOpen }: { readonly onOpen: (what: Open) => void }): ReactNode {
  const waiting = useValue(badge);
  return (
    <nav className="nav" aria-label="Console">
      <div className="nav-brand">
        <span className="nav-mark" aria-hidden="true" />
        <span className="nav-name">Holdpoint</span>
      </div>
      <ul className="nav-list">
        {DESTINATIONS.map((one, at) => (
          <li key={one.to} className={nameTab("group" in one, at)}>
            <Link to={one.to} className="nav-link" activeProps={{ className: "active" }} title={one.label}>
              <Icon name={one.icon} />
              <span className="nav-label">{one.label}</span>
              {one.to === "/inbox" && waiting !== "" ? (
                <span className="nav-count" aria-label={`${waiting} waiting`}>
                  {waiting}
                </span>
              ) : null}
            </Link>
          </li>
        ))}
        <li className="nav-more">
          <button type="button" className="nav-link" onClick={() => onOpen("more")}>
            <Icon name="more" />
            <span className="nav-label">More</span>
          </button>
        </li>
      </ul>
      <SavedViews />
      <Account />
      <div className="nav-tools">
        <IconButton icon="search" label="Find" onClick={() => onOpen("palette")} />
        <IconButton icon="keyboard" label="Keyboard shortcuts" onClick={() => onOpen("help")} />
        <IconButton icon="person" label="Name, theme and other preferences" onClick={() => onOpen("preferences")} />
      </div>
    </nav>
  );
}

/** On a phone: the pages without a tab, saved views, and the tools of the navigation. */
function More({ onClose, onOpen }: { readonly onClose: () => void; readonly onOpen: (what: Open) => void }): ReactNode {
  const all = useValue(views);
  return (
    <Dialog title="More" onClose={onClose}>
      <ul className="more-list">
        {DESTINATIONS.slice(TABS).map(({ to, label, icon }) => (
          <li key={to}>
            <Link to={to} className="nav-link" onClick={onClose}>
              <Icon name={icon} />
              {label}
            </Link>
          </li>
        ))}
        {all.map(({ name, path, search }) => (
          <li key={name}>
            <Link to={path} search={search} className="nav-link" onClick={onClose}>
              <Icon name="filter" />
              {name}
            </Link>
          </li>
        ))}
        <li>
          <button type="button" className="nav-link" onClick={() => onOpen("palette")}>
            <Icon name="search" />
            Find
          </button>
        </li>
        <li>
          <button type="button" className="nav-link" onClick={() => onOpen("preferences")}>
            <Icon name="person" />
            Preferences
          </button>
        </li>
      </ul>
    </Dialog>
  );
}

export function NotFound(): ReactNode {
  return (
    <EmptyState icon="search" title="Page not found">
      <p>
        <Link to="/inbox">Go to the inbox</Link>
      </p>
    </EmptyState>
  );
}

/** A reload without a server would leave the browser's own error page. */
async function reloadIfServed(): Promise<void> {
  const isServed = await fetch(window.location.href, { method: "HEAD" }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isServed) window.location.reload();
  else showToast("The server does not respond.", { tone: "amber" });
}

export function PageFailure({ error, reset }: ErrorComponentProps): ReactNode {
  // A failed import stays failed in this document.
  const retry = isNotLoaded(error) ? (): void => void reloadIfServed() : reset;
  return <Failure error={error} onRetry={retry} />;
}

/** The links of the views in the navigation. */
function SavedViews(): ReactNode {
  const all = useValue(views);
  const [edited, setEdited] = useState<View | null>(null);
  if (all.length === 0 && edited === null) return null;
  return (
    <>
      <ul className="nav-list nav-views" aria-label="Saved views">
        {all.map((view) => (
          <li key={view.name}>
            <Link
              to={view.path}
              search={view.search}
              className="nav-link"
              activeOptions={{ exact: true }}
              activeProps={{ className: "active" }}
              title={view.name}
            >
              <Icon name="filter" />
              <span className="nav-label truncate">{view.name}</span>
            </Link>
            <IconButton icon="more" label={`Rename or delete ${view.name}`} onClick={() => setEdited(view)} />
          </li>
        ))}
      </ul>
      {edited === null ? null : <ViewDialog view={edited} onClose={() => setEdited(null)} />}
    </>
  );
}
