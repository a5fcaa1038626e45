// Assign dialog: the name of the person who is to answer.
import { useState, type FormEvent, type ReactNode } from "react";
import { usePeople } from "../../../data/people.ts";
import { Button, Field } from "../../../ui/controls.tsx";
import { Dialog } from "../../../ui/dialog.tsx";

export function AssignDialog({
  title,
  hint,
  people,
  onClose,
  onAssign,
  children,
}: {
  readonly title: string;
  readonly hint: string;
  /** Suggestions beside those who have signed in; groups are left out. */
  readonly people: readonly string[];
  readonly onClose: () => void;
  readonly onAssign: (to: string) => void;
  readonly children?: ReactNode;
}): ReactNode {
  const [to, setTo] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (to.trim() !== "") onAssign(to.trim());
  };
  const signedIn = usePeople();
  const named = new Map([
    ...people.filter((entry) => !entry.startsWith("group:")).map((name) => [name, name] as const),
    ...signedIn.map(({ name, display_name: shown }) => [name, shown] as const),
  ]);
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name of the person" hint={hint}>
          <input
            className="input"
            autoFocus
            list="assignees"
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        </Field>
        <datalist id="assignees">
          {[...named].map(([name, shown]) => (
            <option key={name} value={name} label={shown} />
          ))}
        </datalist>
        {children}
        <div className="actions">
          <Button kind="primary" submit disabled={to.trim() === ""}>
            Assign
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
