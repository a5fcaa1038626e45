// Suggestions: people whom a typed text may mean, one button each, which Tab reaches from the field before them.
import type { ReactNode } from "react";
import { Button } from "../../../ui/controls.tsx";

export function Suggestions({
  label,
  people,
  onChoose,
}: {
  readonly label: string;
  readonly people: readonly { readonly name: string; readonly display_name: string }[];
  readonly onChoose: (name: string) => void;
}): ReactNode {
  if (people.length === 0) return null;
  return (
    <div className="row suggestions" role="group" aria-label={label}>
      {people.map(({ name, display_name: shown }) => (
        <Button key={name} kind="quiet" onClick={() => onChoose(name)}>
          {name} {shown === name ? "" : shown}
        </Button>
      ))}
    </div>
  );
}
