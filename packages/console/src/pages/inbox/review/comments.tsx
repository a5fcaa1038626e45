// Comments: remarks on an item, in order, with a field for the next one. They are part of the audit trail.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type FormEvent, type ReactNode } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { problemMessage } from "../../../api/problem.ts";
import { addComment, listComments } from "../../../data/inbox/item-calls.ts";
import { buildKey } from "../../../data/inbox/item.ts";
import { findMentions, mention } from "../../../data/mentions.ts";
import { usePeople } from "../../../data/people.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { Visible } from "../../../text/visible.tsx";
import { Button, Failure, Field } from "../../../ui/controls.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { showToast } from "../../../ui/toast.tsx";
import { Suggestions } from "./suggestions.tsx";

export function Comments({ item, readOnly }: { readonly item: InboxItem; readonly readOnly: boolean }): ReactNode {
  const { data, error } = useQuery({
    queryKey: [INBOX, "comments", buildKey(item)],
    queryFn: ({ signal }) => listComments(item, signal),
  });
  return (
    <section className="comments" aria-label="Comments">
      <h3>Comments</h3>
      {error === null ? null : <Failure error={error} />}
      <ol>
        {(data?.items ?? []).map(({ seq, by, at, value }) => (
          <li key={seq}>
            <div className="row">
              <strong>{by}</strong>
              <span className="muted spread">
                <RelativeTime at={at} />
              </span>
            </div>
            <p className="comment">
              <Visible text={typeof value === "string" ? value : ""} />
            </p>
          </li>
        ))}
      </ol>
      {readOnly ? null : <NewComment item={item} />}
    </section>
  );
}

function NewComment({ item }: { readonly item: InboxItem }): ReactNode {
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const [sending, setSending] = useState(false);
  const mentioned = findMentions(text, usePeople());
  const field = useRef<HTMLTextAreaElement>(null);
  const choose = (name: string): void => {
    setText(mention(text, name));
    field.current?.focus(); // the button goes with the word
  };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSending(true);
    try {
      await addComment(item, text);
      setText("");
      await queries.invalidateQueries({ queryKey: [INBOX, "comments", buildKey(item)] });
    } catch (error) {
      showToast(problemMessage(error), { tone: "amber" });
    } finally {
      setSending(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void send(event)}>
      <Field label="New comment">
        <textarea
          ref={field}
          className="input"
          rows={2}
          maxLength={10_000}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <Suggestions label="Mention" people={mentioned} onChoose={choose} />
      <div className="actions">
        <Button submit disabled={sending || text.trim() === ""}>
          Comment
        </Button>
      </div>
    </form>
  );
}
