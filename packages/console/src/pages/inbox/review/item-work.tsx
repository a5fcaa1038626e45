// Item work: the buttons of an item for its assignment to another person and for its follow-up date.
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { problemMessage } from "../../../api/problem.ts";
import { assignItem, snoozeItem } from "../../../data/inbox/item-calls.ts";
import { buildKey } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { useShortcuts } from "../../../hooks/shortcuts.ts";
import { Button, Chip, Field } from "../../../ui/controls.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { showToast } from "../../../ui/toast.tsx";
import { AssignDialog } from "./assign-dialog.tsx";

type Open = "assign" | "snooze" | null;

export function ItemWork({ item, readOnly }: { readonly item: InboxItem; readonly readOnly: boolean }): ReactNode {
  const [open, setOpen] = useState<Open>(null);
  const change = useChange(item);
  const isOpen = item.state === "open" && !readOnly;
  const keys = [
    { keys: "w", label: "Assign", run: () => setOpen("assign") },
    { keys: "z", label: "Snooze", run: () => setOpen("snooze") },
  ];
  useShortcuts("Work", isOpen ? keys : []);
  const snoozed = isSnoozed(item) ? item.snoozed_until : undefined;
  if (!isOpen) return null;
  return (
    <>
      <Button hint="w" onClick={() => setOpen("assign")}>
        Assign
      </Button>
      {snoozed === undefined ? (
        <Button hint="z" onClick={() => setOpen("snooze")}>
          Snooze
        </Button>
      ) : (
        <>
          <Chip tone="amber">
            snoozed, due <RelativeTime at={snoozed} />
          </Chip>
          <Button onClick={() => void change(snoozeItem(item, null), "The item is back in the list.")}>Unsnooze</Button>
        </>
      )}
      {open === "assign" ? (
        <AssignDialog
          title="Assign"
          hint={
            item.claim === null
              ? "As in the audit trail. Others cannot answer the item in the inbox."
              : `Replaces the claim of ${item.claim.by}.`
          }
          people={item.review?.assignees.flat() ?? []}
          onClose={() => setOpen(null)}
          onAssign={(to) => {
            setOpen(null);
            void change(assignItem(item, to, item.claim !== null), `Assigned to ${to}.`);
          }}
        />
      ) : null}
      {open === "snooze" ? (
        <SnoozeDialog
          onClose={() => setOpen(null)}
          onSnooze={(until) => {
            setOpen(null);
            void change(snoozeItem(item, until.toISOString()), `Snoozed until ${until.toLocaleString()}.`);
          }}
        />
      ) : null}
    </>
  );
}

function isSnoozed({ snoozed_until: until }: InboxItem): boolean {
  return until !== undefined && Date.parse(until) > Date.now();
}

function useChange(item: InboxItem): (work: Promise<InboxItem>, done: string) => Promise<void> {
  const queries = useQueryClient();
  return async (work, done) => {
    try {
      queries.setQueryData([INBOX, "item", buildKey(item)], await work);
      showToast(done);
    } catch (error) {
      showToast(problemMessage(error), { tone: "amber" });
      await queries.invalidateQueries({ queryKey: [INBOX, "item", buildKey(item)] });
    }
  };
}

const HOUR_MS = 3_600_000;

const CHOICES = [
  ["1 hour", HOUR_MS],
  ["4 hours", 4 * HOUR_MS],
  ["1 day", 24 * HOUR_MS],
  ["1 week", 7 * 24 * HOUR_MS],
] as const;

function SnoozeDialog({
  onClose,
  onSnooze,
}: {
  readonly onClose: () => void;
  readonly onSnooze: (until: Date) => void;
}): ReactNode {
  const [text, setText] = useState("");
  const chosen = new Date(text);
  const isValid = !Number.isNaN(chosen.getTime()) && chosen.getTime() > Date.now();
  return (
    <Dialog
      title="Snooze"
      description="The item stays open. Its deadline does not move."
      onClose={onClose}
      shortcuts={CHOICES.map(([label, ms], at) => ({
        keys: String(at + 1),
        label,
        run: () => onSnooze(new Date(Date.now() + ms)),
      }))}
    >
      <div className="stack">
        <div className="actions">
          {CHOICES.map(([label, ms], at) => (
            <Button key={label} hint={String(at + 1)} onClick={() => onSnooze(new Date(Date.now() + ms))}>
              {label}
            </Button>
          ))}
        </div>
        <Field label="Until">
          <input
            className="input"
            type="datetime-local"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        <div className="actions">
          <Button kind="primary" disabled={!isValid} onClick={() => onSnooze(chosen)}>
            Snooze
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
