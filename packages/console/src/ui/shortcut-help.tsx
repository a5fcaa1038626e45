// Shortcut help: the active shortcuts, by component.
import { useState, type ReactNode } from "react";
import { Key } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";
import { reachable } from "../hooks/shortcuts.ts";

const list = (title: string, keys: Readonly<Record<string, string>>) => ({
  title,
  shortcuts: Object.entries(keys).map(([key, label]) => ({ keys: key, label })),
});

/** Keys of an open item, also listed where none is open. */
const ELSEWHERE = [
  list("This item", { a: "Approve, send or continue", e: "Edit", r: "Reject", m: "Respond", i: "Ignore" }),
  list("Claim", { c: "Claim or release" }),
  list("Work", { w: "Assign", z: "Snooze" }),
  list("Texts", { o: "Show all of the folded texts" }),
  list("Sending answers", { u: "Undo the last answer" }),
];

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [groups] = useState(() => {
    const active = reachable().map(({ title, shortcuts }) => ({ title, shortcuts }));
    const others = ELSEWHERE.filter(
      ({ title }) => !active.some((one) => one.title === title && one.shortcuts.length > 0),
    );
    return [...active, ...others];
  });
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
                      <Key keys={keys} />
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
