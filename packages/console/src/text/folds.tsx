// Folds: the parts of a request that a page shows shortened until a person opens them.
// Invariants:
//   - A decision that lets an action go ahead waits until everything that it covers has been open: the first press
//     opens the folded parts and moves to the first, the next one decides.
//   - Parts that appear later, and those of a dialog, belong to the nearest `Folds` around them.
import { createContext, useContext, useEffect, useRef, useState, type ReactNode, type RefObject } from "react";
import { useShortcuts } from "../hooks/shortcuts.ts";
import { showToast } from "../ui/toast.tsx";

interface Fold {
  readonly open: () => void;
  readonly place: RefObject<HTMLElement | null>;
}

/** The folded parts, in the order of the page. */
const Registry = createContext<Set<Fold>>(new Set());

/** @param withKey `o` opens all; a page has one such key */
export function Folds({
  children,
  withKey = false,
}: {
  readonly children: ReactNode;
  readonly withKey?: boolean;
}): ReactNode {
  const [folds] = useState(() => new Set<Fold>());
  return (
    <Registry value={folds}>
      {withKey ? <OpenKey /> : null}
      {children}
    </Registry>
  );
}

function OpenKey(): ReactNode {
  const folds = useContext(Registry);
  useShortcuts("Texts", [{ keys: "o", label: "Show all of the folded texts", run: () => openAll(folds) }]);
  return null;
}

/** One foldable part. @param isLong false: there is nothing to fold */
export function useFold<Place extends HTMLElement>(
  isLong: boolean,
): { readonly isFolded: boolean; readonly open: () => void; readonly place: RefObject<Place | null> } {
  const folds = useContext(Registry);
  const place = useRef<Place>(null);
  const [isOpen, setOpen] = useState(false);
  const isFolded = isLong && !isOpen;
  useEffect(() => {
    if (!isFolded) return undefined;
    const fold: Fold = { open: () => setOpen(true), place };
    folds.add(fold);
    return () => {
      folds.delete(fold);
    };
  }, [folds, isFolded]);
  return { isFolded, open: () => setOpen(true), place };
}

/** A guard for decisions: true once nothing is folded; otherwise it opens the parts and says so. */
export function useUnfolded(): () => boolean {
  const folds = useContext(Registry);
  return () => {
    if (folds.size === 0) return true;
    openAll(folds);
    showToast("A part of the request was folded. It is open now: read it, then decide.", { tone: "amber" });
    return false;
  };
}

function openAll(folds: ReadonlySet<Fold>): void {
  const parts = [...folds];
  for (const { open } of parts) open();
  const first = parts.map(({ place }) => place.current).find((one) => one !== null);
  if (first === undefined) return;
  first.focus({ preventScroll: true }); // arrows and Page Down read on from here
  const { top, bottom } = first.getBoundingClientRect();
  if (top < 0 || top > window.innerHeight || bottom < 0) first.scrollIntoView({ block: "start" });
}
