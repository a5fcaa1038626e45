// Question card: an open interrupt of the thread, with its title and its place.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { recognise } from "@holdpoint/api/dialects.ts";
import { isDangerous } from "@holdpoint/api/text/payload-excerpt.ts";
import { callText } from "@holdpoint/api/text/payload-text.ts";
import type { Interrupt } from "../../../api/types.ts";
import { readDirection } from "../../../text/direction.ts";
import { Chip, DangerChip } from "../../../ui/controls.tsx";

export function QuestionCard({
  question,
  isShown = false,
  children,
}: {
  readonly question: Interrupt;
  /** `children` show the whole question: the title of a single one would say it twice. */
  readonly isShown?: boolean;
  /** The way to answer. */
  readonly children: ReactNode;
}): ReactNode {
  const node = question.ns.at(-1)?.split(":")[0] ?? "";
  const { title, actions } = recognise(question.value ?? null, null);
  const hint = actions.length > 1 ? actions.map(callText).join(" · ") : "";
  return (
    <section className="question-card" aria-label="Pending answer">
      <div className="row">
        <Chip tone="amber">pending answer</Chip>
        {isDangerous(question.value ?? null) ? <DangerChip /> : null}
        <span className="muted truncate">{node}</span>
      </div>
      {isShown && actions.length < 2 ? null : (
        <>
          <p className="question-text" dir={readDirection(title)}>
            {title}
          </p>
          <p className="muted small">{hint}</p>
        </>
      )}
      {children}
    </section>
  );
}

export function AnswerLink({
  threadId,
  question,
}: {
  readonly threadId: string;
  readonly question: Interrupt;
}): ReactNode {
  return (
    <Link to="/inbox/$threadId/$interruptId" params={{ threadId, interruptId: question.id }} className="button primary">
      Answer
    </Link>
  );
}
