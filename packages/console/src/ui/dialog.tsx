// Dialog: a modal that must be answered or closed first. Traps focus and restores it afterwards.
import { Dialog as Parts } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "./controls.tsx";
import { useShortcuts, type Shortcut } from "../hooks/shortcuts.ts";

export function Dialog({
  title,
  description,
  onClose,
  shortcuts = [],
  wide = false,
  children,
  footer,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  /** Absent: it cannot be closed. */
  readonly onClose?: () => void;
  readonly shortcuts?: readonly Shortcut[];
  readonly wide?: boolean;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
}): ReactNode {
  useShortcuts(title, shortcuts, true);
  return (
    <Parts.Root open onOpenChange={(open) => !open && onClose?.()}>
      <Parts.Portal>
        <Parts.Overlay className="dialog-overlay" />
        <Parts.Content
          className={wide ? "dialog wide" : "dialog"}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
        >
          <header className="dialog-header">
            <Parts.Title className="dialog-title" dir="auto">
              {title}
            </Parts.Title>
            {onClose === undefined ? null : (
              <Parts.Close asChild>
                <IconButton icon="cross" label="Close" />
              </Parts.Close>
            )}
          </header>
          {description === undefined ? null : (
            <Parts.Description className="dialog-description">{description}</Parts.Description>
          )}
          <div className="dialog-body">{children}</div>
          {footer === undefined ? null : <footer className="dialog-footer">{footer}</footer>}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}
