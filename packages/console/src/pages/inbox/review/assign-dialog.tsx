// Assign dialog: the name of the person who is to answer.
import { useRef, useState, type FormEvent, type ReactNode } from "react";
import { findPeople } from "../../../data/mentions.ts";
import { usePeople } from "../../../data/people.ts";
import { Button, Field } from "../../../ui/controls.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Suggestions } from "./suggestions.tsx";

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
  /** Suggested beside those who have signed in; groups are left out. */
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
    ...people
      .filter((entry) => !entry.startsWith("group:"))
      .map((name) => [name, { name, display_name: name }] as const),
    ...signedIn.map((person) => [person.name, person] as const),
  ]);
  const suggested = named.has(to) ? [] : findPeople(to.trim(), [...named.values()]);
  const field = useRef<HTMLInputElement>(null);
  const choose = (name: string): void => {
    setTo(name);
    field.current?.focus(); // Enter assigns
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name of the person" hint={hint}>
          <input
            ref={field}
            className="input"
            autoFocus
            autoComplete="off"
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        </Field>
        <Suggestions label="People" people={suggested} onChoose={choose} />
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
