// Delete dialog: the frame of dialogs that confirm one DELETE call.
import type { ReactNode } from "react";
import { Button } from "../ui/controls.tsx";
import { CopyCurl } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";

export function DeleteDialog({
  title,
  description,
  call,
  label = "Delete",
  onDelete,
  onClose,
  children,
}: {
  readonly title: string;
  readonly description: string;
  /** The call of `onDelete`, for the curl button. */
  readonly call: { readonly path: string; readonly body?: unknown };
  readonly label?: string;
  readonly onDelete: () => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <Dialog
      title={title}
      description={description}
      onClose={onClose}
      footer={
        <>
          <CopyCurl method="DELETE" {...call} />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" onClick={onDelete}>
            {label}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
