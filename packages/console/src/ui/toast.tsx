// Toast: a short notification, announced by screen readers. At most TOASTS_MAX at a time.
import type { ReactNode } from "react";
import { Button, IconButton, type Tone } from "./controls.tsx";
import { createValue, useValue } from "../hooks/value.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: Tone;
  readonly actions: readonly { readonly label: string; readonly hint?: string; readonly run: () => void }[];
}

const TOASTS_MAX = 4;
const SHOWN_MS = 6000;
const toasts = createValue<readonly Toast[]>([]);
let lastId = 0;

/** @returns dismisses it. @param ms duration; null until dismissed. */
export function showToast(
  text: string,
  {
    tone = "neutral",
    actions = [],
    ms = SHOWN_MS,
  }: {
    readonly tone?: Tone;
    readonly actions?: Toast["actions"];
    readonly ms?: number | null;
  } = {},
): () => void {
  const id = ++lastId;
  toasts.set([...toasts.get(), { id, text, tone, actions }].slice(-TOASTS_MAX));
  const close = (): void => toasts.set(toasts.get().filter((toast) => toast.id !== id));
  if (ms !== null) setTimeout(close, ms);
  return close;
}

export function Toasts(): ReactNode {
  return (
    <div className="toasts" role="status" aria-live="polite">
      {useValue(toasts).map(({ id, text, tone, actions }) => (
        <div key={id} className={`toast ${tone}`}>
          <span>{text}</span>
          {actions.map(({ label, hint, run }) => (
            <Button key={label} kind="quiet" onClick={run} {...(hint === undefined ? {} : { hint })}>
              {label}
            </Button>
          ))}
          <IconButton
            icon="cross"
            label="Dismiss"
            onClick={() => toasts.set(toasts.get().filter((toast) => toast.id !== id))}
          />
        </div>
      ))}
    </div>
  );
}
