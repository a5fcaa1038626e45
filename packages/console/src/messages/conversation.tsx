// Conversation: readable messages: the speaker, the text, tool calls with their results.
import { useState, type ReactNode } from "react";
import { Chip } from "../ui/controls.tsx";
import { glance } from "../json/excerpt.ts";
import { JsonView } from "../json/json-view.tsx";
import { Visible } from "../text/visible.tsx";
import { FileOfMessage, MessageImage } from "./attachment.tsx";
import type { Message, Speaker, ToolCall } from "./messages.ts";
import "./conversation.css";

const TEXT_UNITS_MAX = 8000;
const NAMES: Readonly<Record<Speaker, string>> = { human: "Human", ai: "AI", system: "System", tool: "Tool" };

export function Conversation({
  messages,
  live = false,
}: {
  readonly messages: readonly Message[];
  /** The last message is still streaming. */
  readonly live?: boolean;
}): ReactNode {
  return (
    <ol className="conversation" aria-label="Conversation">
      {messages.map((message, at) => (
        // Messages have no identity except their index; some formats lack ids.
        <li key={message.id ?? `${at}`} className={`message ${message.speaker}`}>
          <div className="message-head">
            <span className="message-speaker">{NAMES[message.speaker]}</span>
            {message.name === null ? null : <span className="muted">{message.name}</span>}
          </div>
          <Body message={message} writing={live && at === messages.length - 1} />
        </li>
      ))}
    </ol>
  );
}

function Body({ message, writing }: { readonly message: Message; readonly writing: boolean }): ReactNode {
  const { text, reasoning, images, links, files, calls, others } = message;
  const isEmpty = text + reasoning === "" && [images, links, files, calls, others].every((one) => one.length === 0);
  return (
    <div className="message-body">
      {reasoning === "" ? null : (
        <details className="message-reasoning">
          <summary>Reasoning</summary>
          <LongText text={reasoning} />
        </details>
      )}
      {text === "" && !writing ? null : (
        <p className="message-text">
          <LongText text={text} />
          {writing ? <span className="caret" aria-hidden="true" /> : null}
        </p>
      )}
      {images.map((address) => (
        <MessageImage key={address} address={address} />
      ))}
      {links.map((address) => (
        <p key={address}>
          Image:{" "}
          <a href={address} target="_blank" rel="noreferrer noopener">
            <Visible text={address} />
          </a>
        </p>
      ))}
      {files.map((file) => (
        <FileOfMessage key={file.reference} file={file} />
      ))}
      {calls.map((call, at) => (
        <Call key={call.id ?? `${at}`} call={call} />
      ))}
      {others.length === 0 ? null : <JsonView value={others} label="other parts" openLevels={1} />}
      {isEmpty && !writing ? <p className="muted">Empty</p> : null}
    </div>
  );
}

function LongText({ text }: { readonly text: string }): ReactNode {
  const [all, setAll] = useState(false);
  if (all || text.length <= TEXT_UNITS_MAX) return <Visible text={text} />;
  return (
    <>
      <Visible text={text.slice(0, TEXT_UNITS_MAX).toWellFormed()} />…{" "}
      <button type="button" className="text-button" onClick={() => setAll(true)}>
        Show all {text.length} characters
      </button>
    </>
  );
}

function Call({ call: { name, args, result, failed } }: { readonly call: ToolCall }): ReactNode {
  return (
    <details className="tool-call">
      <summary>
        <code className="tool-name">
          <Visible text={name} />
        </code>
        <span className="muted truncate mono small">{glance(args ?? {}, 160)}</span>
        <span className="spread">
          {failed ? (
            <Chip tone="red">failed</Chip>
          ) : result === undefined ? (
            <Chip>no result</Chip>
          ) : (
            <Chip tone="green">done</Chip>
          )}
        </span>
      </summary>
      <div className="tool-inside">
        <h4>Arguments</h4>
        <JsonView value={args} label="arguments" />
        {result === undefined ? null : (
          <>
            <h4>Result</h4>
            {typeof result === "string" ? (
              <pre className="tool-text">
                <LongText text={result} />
              </pre>
            ) : (
              <JsonView value={result} label="result" />
            )}
          </>
        )}
      </div>
    </details>
  );
}
