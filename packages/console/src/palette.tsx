// Palette: pages and actions by name. Actions are the current shortcuts.
import { useNavigate } from "@tanstack/react-router";
import { useState, type KeyboardEvent, type ReactNode } from "react";
import { DESTINATIONS } from "./navigation.ts";
import { Key } from "./ui/controls.tsx";
import { Dialog } from "./ui/dialog.tsx";
import { views } from "./hooks/views.ts";
import { reachable } from "./hooks/shortcuts.ts";

interface Action {
  readonly label: string;
  readonly keys: string;
  readonly run: () => void;
}

const ROWS_MAX = 50;

export function Palette({
  onClose,
  onOpen,
}: {
  readonly onClose: () => void;
  readonly onOpen: (what: "preferences" | "help") => void;
}): ReactNode {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  // Captured when the palette opened: its own layer hides the keys below.
  const [actions] = useState<readonly Action[]>(() => [
    ...DESTINATIONS.map(({ to, label, key }) => ({ label, keys: `g ${key}`, run: () => void navigate({ to }) })),
    ...views
      .get()
      .map(({ name, path, search }) => ({ label: name, keys: "", run: () => void navigate({ to: path, search }) })),
    ...reachable()
      .flatMap(({ shortcuts }) => shortcuts)
      .filter(({ keys }) => !keys.startsWith("g ") && keys !== "Mod+k"),
    { label: "Preferences", keys: "", run: () => onOpen("preferences") },
  ]);
  const words = text.toLowerCase().split(/\s+/);
  const found = actions
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .slice(0, ROWS_MAX);
  const choose = (action: Action | undefined): void => {
    if (action === undefined) return;
    onClose();
    queueMicrotask(action.run); // after the dialog has closed, so that it does not close the next one
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && found.length > 0) setAt((at + step + found.length) % found.length);
    else if (event.key === "Enter") choose(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        className="palette-input"
        autoFocus
        aria-label="Page or action"
        placeholder="Page or action"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[at] === undefined ? undefined : `palette-${at}`}
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
      />
      <ul id="palette-list" className="palette-list" role="listbox" aria-label="Results">
        {found.map((action, index) => (
          <li
            key={`${action.keys} ${action.label}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            className="palette-row"
            onClick={() => choose(action)}
            onPointerMove={() => setAt(index)}
          >
            {action.label}
            {action.keys === "" ? null : <Key keys={action.keys} />}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
