// Outbox view: held and failed answers at the bottom of every page, with an undo button.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { problemMessage } from "../../api/problem.ts";
import { Button } from "../../ui/controls.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { showToast } from "../../ui/toast.tsx";
import { useValue } from "../../hooks/value.ts";
import { hasHeld, outbox, send, undoAnswer, type PendingAnswer } from "./outbox.ts";

const TICK_MS = 250;

export function OutboxView(): ReactNode {
  const pendingAnswers = useValue(outbox);
  return (
    <div className="outbox" role="status" aria-live="polite">
      {hasHeld(pendingAnswers) ? <UndoKey /> : null}
      {pendingAnswers.map((pendingAnswer) => (
        <PendingAnswerView key={pendingAnswer.id} pendingAnswer={pendingAnswer} />
      ))}
    </div>
  );
}

/** Mounted while an answer is held. A page with `u` for itself leaves it out meanwhile (outbox.5). */
function UndoKey(): ReactNode {
  const undo = useUndo();
  useShortcuts("Sending answers", [{ keys: "u", label: "Undo the last answer", run: () => undo(), once: true }]);
  return null;
}

/** Undoes an answer; its item is one step away. */
function useUndo(): (id?: string) => void {
  const navigate = useNavigate();
  return (id) => {
    const pendingAnswer = undoAnswer(id);
    if (pendingAnswer === null) return;
    const [answer] = pendingAnswer.answers;
    const params = { threadId: answer?.thread_id ?? "", interruptId: answer?.interrupt_id ?? "" };
    const show = (): void => void navigate({ to: "/inbox/$threadId/$interruptId", params, search: true });
    showToast("Undone. Nothing was sent.", {
      actions: pendingAnswer.answers.length === 1 ? [{ label: "Show the item", run: show }] : [],
    });
  };
}

function PendingAnswerView({ pendingAnswer }: { readonly pendingAnswer: PendingAnswer }): ReactNode {
  const { id, label, state, error } = pendingAnswer;
  const undo = useUndo();
  return (
    <div className={`toast ${state === "failed" ? "red" : "accent"}`}>
      <span>
        {label}
        {state === "sending" ? " · sending…" : null}
        {state === "failed" ? ` · not sent: ${problemMessage(error)}` : null}
        {state === "held" ? <Countdown until={pendingAnswer.sendAt} /> : null}
      </span>
      {state === "sending" ? null : (
        <>
          <Button kind="quiet" icon="undo" {...(state === "held" ? { hint: "u" } : {})} onClick={() => undo(id)}>
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
