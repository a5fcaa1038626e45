// Save view: the current filters with a name, in the navigation; and the dialog that renames or deletes a view.
import { useState, type FormEvent, type ReactNode } from "react";
import { isKeptHere, NAME_UNITS_MAX, storeViews, views, withView, type View } from "../hooks/views.ts";
import { Button, Field } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { showToast } from "../ui/toast.tsx";

export function SaveView({
  path,
  search,
}: Pick<View, "path"> & {
  /** Texts, and undefined for absent members. */
  readonly search: object;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const members = Object.entries(search).filter((member): member is [string, string] => typeof member[1] === "string");
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Save view
      </Button>
      {isOpen ? (
        <NameDialog
          title="Save view"
          name=""
          onClose={() => setOpen(false)}
          onSave={(name) => {
            setOpen(false);
            storeViews(withView(views.get(), { name, path, search: Object.fromEntries(members) }));
            showToast(`Saved as ${name}${isKeptHere.get() ? ", for this browser" : ""}.`);
          }}
        />
      ) : null}
    </>
  );
}

export function ViewDialog({ view, onClose }: { readonly view: View; readonly onClose: () => void }): ReactNode {
  const change = (next: readonly View[]): void => {
    onClose();
    storeViews(next);
  };
  return (
    <NameDialog
      title="View"
      name={view.name}
      onClose={onClose}
      onSave={(name) => change(withView(views.get(), { ...view, name }, view.name))}
    >
      <Button kind="danger" onClick={() => change(views.get().filter(({ name }) => name !== view.name))}>
        Delete
      </Button>
    </NameDialog>
  );
}

function NameDialog({
  title,
  name,
  onClose,
  onSave,
  children,
}: {
  readonly title: string;
  readonly name: string;
  readonly onClose: () => void;
  readonly onSave: (name: string) => void;
  /** More buttons. */
  readonly children?: ReactNode;
}): ReactNode {
  const [text, setText] = useState(name);
  const chosen = text.trim();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (chosen !== "") onSave(chosen);
  };
  return (
    <Dialog
      title={title}
      description={`${isKeptHere.get() ? "Views are kept in this browser." : "Views are kept for you."} Their links work anywhere.`}
      onClose={onClose}
    >
      <form className="stack" onSubmit={submit}>
        <Field label="Name of the view">
          <input autoFocus value={text} maxLength={NAME_UNITS_MAX} onChange={(event) => setText(event.target.value)} />
        </Field>
        <div className="actions">
          <Button kind="primary" submit disabled={chosen === ""}>
            Save
          </Button>
          {children}
        </div>
      </form>
    </Dialog>
  );
}
