// Shortcuts: the keys of the console. A mounted component registers its keys; `?` lists all of them.
// Invariants:
//   - Keys typed into a field are text, except with Ctrl or Cmd, and Escape.
//   - While a dialog is open, only its own keys work: the last registered layer.
//   - A sequence ("g i") expires if its second key does not follow within SEQUENCE_MS.
//   - A key that is held down repeats movements only: one press is one decision.
//   - Ctrl+Enter submits the form that has the focus, as its own button does, and nothing else.
//   - A letter pressed in a form decides only with that form: the button beside a comment approves nothing.
import { useEffect, useRef } from "react";
import { createValue } from "./value.ts";

export interface Shortcut {
  /** "j", "Shift+x", "Mod+k" (Ctrl or Cmd), "g i", "Enter", "Escape", "?". */
  readonly keys: string;
  readonly label: string;
  readonly run: () => void;
  /** Also works in text fields. */
  readonly inFields?: boolean;
  /** Acts once, however long the key is held down. */
  readonly once?: boolean;
  /** Selector of the only form in which the key works; outside of all forms it works too. */
  readonly form?: string;
}

/** The form of an answer. */
export const ANSWER_FORM = "form.answer";
/** Ctrl or Cmd with Enter, for the help; it needs no registration. */
export const SUBMIT: Shortcut = { keys: "Mod+Enter", label: "Send the form that has the focus", run: () => undefined };

interface Layer {
  readonly title: string;
  readonly modal: boolean;
  shortcuts: readonly Shortcut[];
}

const SEQUENCE_MS = 1000;
export const layers = createValue<readonly Layer[]>([]);
let pending: { readonly key: string; readonly at: number } | null = null;

/** @param modal hides the keys of all layers below. */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[], modal = false): void {
  const layer = useRef<Layer | null>(null);
  useEffect(() => {
    const own: Layer = { title, modal, shortcuts: [] };
    layer.current = own;
    layers.set([...layers.get(), own]);
    return () => layers.set(layers.get().filter((one) => one !== own));
  }, [title, modal]);
  useEffect(() => {
    if (layer.current !== null) layer.current.shortcuts = shortcuts;
  });
}

/** Active layers, the last added first. */
export function reachable(): readonly Layer[] {
  const all = [...layers.get()].reverse();
  const modal = all.findIndex((layer) => layer.modal);
  return modal === -1 ? all : all.slice(0, modal + 1);
}

export function startShortcuts(): void {
  document.addEventListener("keydown", onKeyDown);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const key = nameKeystroke(event);
  if (key === SUBMIT.keys) return submitForm(event);
  const typing = isField(event.target);
  const sequence = pending !== null && event.timeStamp - pending.at < SEQUENCE_MS ? `${pending.key} ${key}` : null;
  pending = null;
  const all = reachable().flatMap((layer) => layer.shortcuts);
  const form = event.target instanceof Element ? event.target.closest("form") : null;
  const usable = (one: Shortcut): boolean =>
    (!typing || one.inFields === true) && (one.form === undefined || form === null || form.matches(one.form));
  const found =
    all.find((one) => one.keys === sequence && usable(one)) ?? all.find((one) => one.keys === key && usable(one));
  if (found !== undefined) {
    // Enter and Space activate a focused button or link.
    if ((key === "Enter" || key === "Space") && isControl(event.target)) return;
    event.preventDefault();
    if (!event.repeat || found.once !== true) found.run();
  } else if (!typing && all.some((one) => one.keys.startsWith(`${key} `))) {
    pending = { key, at: event.timeStamp };
  }
}

/** Presses the form's own button, so that a disabled one refuses the key too. */
function submitForm(event: KeyboardEvent): void {
  const { target } = event;
  const outside = target instanceof HTMLButtonElement ? target.form : null; // a button below its form names it
  const form = target instanceof Element ? (target.closest("form") ?? outside) : null;
  const button = [...(form?.elements ?? [])].find(
    (one): one is HTMLButtonElement => one instanceof HTMLButtonElement && one.type === "submit",
  );
  if (button === undefined) return;
  event.preventDefault();
  if (!event.repeat) button.click();
}

function nameKeystroke(event: KeyboardEvent): string {
  const key = event.key === " " ? "Space" : event.key;
  const letter = key.length === 1 ? key.toLowerCase() : key;
  if (event.ctrlKey || event.metaKey) return `Mod+${letter}`;
  return event.shiftKey && /^[a-z]$/i.test(key) ? `Shift+${letter}` : letter;
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("button, a[href], summary, [role=menuitem], [role=tab]") !== null;
}
