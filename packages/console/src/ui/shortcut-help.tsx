// Shortcut help: the active shortcuts, by component.
import { useState, type ReactNode } from "react";
import { Key } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";
import { reachable } from "../hooks/shortcuts.ts";

const IS_MAC = navigator.platform.startsWith("Mac");

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [groups] = useState(() => reachable().map(({ title, shortcuts }) => ({ title, shortcuts })));
  return (
    <Dialog title="Keys" onClose={onClose} shortcuts={[{ keys: "?", label: "Close", run: onClose }]} wide>
      <div className="help-groups">
        {groups
          .filter(({ shortcuts }) => shortcuts.length > 0)
          .map(({ title, shortcuts }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl className="help-list">
                {shortcuts.map(({ keys, label }) => (
                  <div key={keys}>
                    <dt>
                      <span className="visually-hidden">{keys}</span>
                      <Key keys={keys.replace("Mod", IS_MAC ? "⌘" : "Ctrl").replaceAll("+", " ")} />
                    </dt>
                    <dd>{label}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
      </div>
    </Dialog>
  );
}
