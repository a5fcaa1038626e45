// Conversation: the last messages of the thread, as context for the answer. Loads when expanded.
// Invariants:
//   - The content below it appears once the conversation has its height, and then stays: messages that arrive late do
//     not move a button under the pointer.
import { useEffect, useState, type ReactNode } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { Failure, Loading } from "../../ui/controls.tsx";
import { glance } from "../../json/excerpt.ts";
import { isObject, readMember, readJsonText, type Json } from "../../json/json.ts";
import { Markdown } from "../../text/markdown.tsx";
import { GraphPanel, StatePanel, useThreadState } from "./thread-context.tsx";

const SHOWN_MAX = 6;
const OPEN_KEY = "holdpoint.conversation";

export function Conversation({
  item,
  children,
}: {
  readonly item: InboxItem;
  /** The content below it. */
  readonly children: ReactNode;
}): ReactNode {
  const [open, setOpen] = useState(() => localStorage.getItem(OPEN_KEY) !== "closed");
  const { data, error } = useThreadState(item.thread_id, open);
  const messages = readMember(data?.values, "messages");
  const list: readonly Json[] = Array.isArray(messages) ? messages : [];
  const [isSettled, setSettled] = useState(!open);
  const hasEnded = data !== undefined || error !== null || !open;
  useEffect(() => {
    if (hasEnded) setSettled(true);
  }, [hasEnded]);
  const below = isSettled || hasEnded ? children : null;
  const panels =
    below === null ? null : (
      <>
        <StatePanel key={String(list.length === 0)} item={item} isMain={data !== undefined && list.length === 0} />
        <GraphPanel item={item} />
      </>
    );
  if (data !== undefined && list.length === 0)
    return (
      <>
        {panels}
        {below}
      </>
    );
  return (
    <>
      <details
        className="fold"
        open={open}
        onToggle={(event) => {
          setOpen(event.currentTarget.open);
          localStorage.setItem(OPEN_KEY, event.currentTarget.open ? "open" : "closed");
        }}
      >
        <summary>Conversation{list.length === 0 ? "" : ` · ${list.length} messages`}</summary>
        {error === null ? null : <Failure error={error} />}
        {data === undefined && error === null && open ? <Loading /> : null}
        <ol className="messages">
          {list.slice(-SHOWN_MAX).map((message, at) => (
            <Message key={readJsonText(readMember(message, "id")) ?? String(at)} message={message} />
          ))}
        </ol>
      </details>
      {panels}
      {below}
    </>
  );
}

const ROLES: Readonly<Record<string, string>> = {
  human: "Person",
  user: "Person",
  ai: "Assistant",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
};

function Message({ message }: { readonly message: Json }): ReactNode {
  const role = readJsonText(readMember(message, "type")) ?? readJsonText(readMember(message, "role")) ?? "message";
  const calls = readMember(message, "tool_calls");
  const text = formatContent(readMember(message, "content"));
  return (
    <li className={`message ${role}`}>
      <span className="message-role">{ROLES[role] ?? role}</span>
      <div className="message-text">
        {text === "" ? null : <Markdown text={text} />}
        {(Array.isArray(calls) ? (calls as readonly Json[]) : []).map((one, at) => (
          <code key={readJsonText(readMember(one, "id")) ?? String(at)} className="tool-call">
            {readJsonText(readMember(one, "name")) ?? "tool"}({glance(readMember(one, "args"))})
          </code>
        ))}
      </div>
    </li>
  );
}

/** Text, or the texts in a list of parts. */
function formatContent(content: Json): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as readonly Json[])
    .map((part) =>
      typeof part === "string"
        ? part
        : isObject(part)
          ? (readJsonText(part["text"]) ?? `[${readJsonText(part["type"]) ?? "part"}]`)
          : "",
    )
    .join("\n");
}
