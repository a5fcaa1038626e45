// Edit dialog: the frame of dialogs that send one call: the fields, the call as curl, and the error.
import { useState, type ReactNode } from "react";
import { problemMessage } from "../api/problem.ts";
import { Button } from "../ui/controls.tsx";
import { CopyCurl } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { JsonEditor } from "../json/editor.tsx";

export interface EditCall {
  readonly method: "POST" | "PUT" | "PATCH";
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export function EditDialog({
  title,
  description,
  call,
  save,
  onClose,
  children,
}: {
  readonly title: string;
  readonly description: string;
  /** The call of `save.run`, for the curl button. */
  readonly call: EditCall;
  readonly save: { readonly label: string; readonly ready: boolean; readonly run: () => Promise<void> };
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const [failure, setFailure] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const send = async (): Promise<void> => {
    setFailure(null);
    setSending(true);
    try {
      await save.run();
    } catch (error) {
      setFailure(problemMessage(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <Dialog
      title={title}
      description={description}
      onClose={onClose}
      wide
      footer={
        <>
          <CopyCurl {...call} />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!save.ready || sending} onClick={() => void send()}>
            {save.label}
          </Button>
        </>
      }
    >
      <div className="stack">
        {children}
        {failure === null ? null : (
          <p className="field-error" role="alert">
            {failure}
          </p>
        )}
      </div>
    </Dialog>
  );
}

/** A labelled JSON editor, with its parse error below. */
export function JsonField({
  label,
  initial,
  error = null,
  onChange,
}: {
  readonly label: string;
  readonly initial: string;
  readonly error?: string | null;
  readonly onChange: (text: string) => void;
}): ReactNode {
  return (
    <div className="field">
      <span className="field-label" aria-hidden="true">
        {label}
      </span>
      <JsonEditor initial={initial} label={label} onChange={onChange} />
      {error === null ? null : <span className="field-error">{error}</span>}
    </div>
  );
}
