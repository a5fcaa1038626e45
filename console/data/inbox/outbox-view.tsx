// Outbox view: held and failed answers at the bottom of every page, with an undo button.
import { useEffect, useState, type ReactNode } from "react";
import { problemMessage } from "../../api/problem.ts";
import { Button } from "../../ui/controls.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { showToast } from "../../ui/toast.tsx";
import { useValue } from "../../hooks/value.ts";
import { outbox, send, undoAnswer, type PendingAnswer } from "./outbox.ts";

const TICK_MS = 250;

export function OutboxView(): ReactNode {
  const parcels = useValue(outbox);
  const undo = (): void => {
    if (undoAnswer()) showToast("Undone. Nothing was sent.");
  };
  useShortcuts("Sending answers", parcels.length === 0 ? [] : [{ keys: "u", label: "Undo the answer", run: undo }]);
  return (
    <div className="outbox" role="status" aria-live="polite">
      {parcels.map((parcel) => (
        <ParcelView key={parcel.id} parcel={parcel} />
      ))}
    </div>
  );
}

function ParcelView({ parcel }: { readonly parcel: PendingAnswer }): ReactNode {
  const { id, label, state, error } = parcel;
  const undo = (): void => {
    if (undoAnswer(id)) showToast("Undone. Nothing was sent.");
  };
  return (
    <div className={`toast ${state === "failed" ? "red" : "accent"}`}>
      <span>
        {label}
        {state === "sending" ? " · sending…" : null}
        {state === "failed" ? ` · not sent: ${problemMessage(error)}` : null}
        {state === "held" ? <Countdown until={parcel.sendAt} /> : null}
      </span>
      {state === "sending" ? null : (
        <>
          <Button kind="quiet" icon="undo" hint="u" onClick={undo}>
            Undo
          </Button>
          <Button kind="quiet" onClick={() => void send(id)}>
            {state === "failed" ? "Try again" : "Send now"}
          </Button>
        </>
      )}
    </div>
  );
}

/** Hidden from screen readers: it changes every second. */
function Countdown({ until }: { readonly until: number }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="muted numeric" aria-hidden="true">
      {" "}
      · sending in {Math.max(0, Math.ceil((until - now) / 1000))} s
    </span>
  );
}
