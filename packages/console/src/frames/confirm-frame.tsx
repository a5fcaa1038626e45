// Confirm frame: the frame of dialogs that show what is sent, and send it. Enter confirms, but for something dangerous:
// there the focus is on Cancel, and Ctrl+Enter or the button confirms.
import type { ReactNode } from "react";
import { Button } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";

const FORM = "confirm";
const HARMLESS = { kind: "primary", icon: "check", "aria-keyshortcuts": "Enter" } as const;
const DANGEROUS = { kind: "danger", icon: "warning", hint: "Ctrl ↵" } as const;

export function ConfirmFrame({
  title,
  description,
  dangerous,
  hasField = false,
  button,
  curl,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  readonly description?: string | undefined;
  readonly dangerous: boolean;
  /** A field takes the focus. */
  readonly hasField?: boolean;
  /** Why the button does nothing yet. */
  readonly button: { readonly disabled: boolean } | { readonly "aria-disabled": boolean };
  readonly curl: ReactNode;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Dialog
      title={title}
      {...(description === undefined ? {} : { description })}
      wide
      onClose={onClose}
      shortcuts={dangerous ? [] : [{ keys: "Enter", label: "Confirm", run: onConfirm, once: true }]}
      footer={
        <>
          {curl}
          <span className="spread" />
          <Button hint="Esc" autoFocus={dangerous && !hasField} form={FORM} onClick={onClose}>
            Cancel
          </Button>
          {/* Confirm has the first focus, so Enter confirms, unless the request is dangerous. */}
          <Button {...(dangerous ? DANGEROUS : HARMLESS)} autoFocus={!dangerous} submit form={FORM} {...button}>
            Confirm
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        {children}
      </form>
    </Dialog>
  );
}
