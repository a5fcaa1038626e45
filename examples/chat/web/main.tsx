// The page: a chat on one thread. The thread's id is in the address, so that a reload shows the same thread, also in
// the middle of a run and while it is paused.
import { useStream } from "@langchain/react";
import { useState, type FormEvent } from "react";
import { createRoot } from "react-dom/client";

/** Set by the build: serve-page.ts. */
declare const API_URL: string;

interface Question {
  readonly question?: string;
}

if (location.hash === "") history.replaceState(null, "", `#${crypto.randomUUID()}`);
const threadId = location.hash.slice(1);
const assistantId = new URLSearchParams(location.search).get("assistant") ?? "chat";

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : JSON.stringify(error));

function Chat() {
  const stream = useStream<{ messages: unknown[] }, Question>({ apiUrl: API_URL, assistantId, threadId });
  const [text, setText] = useState("");

  function send(event: FormEvent): void {
    event.preventDefault();
    setText("");
    void stream.submit({ messages: [{ type: "human", content: text }] });
  }

  return (
    <main>
      <h1>Chat with approval</h1>
      {stream.messages.map((message, index) => (
        <div key={message.id ?? index} className={`message ${message.type}`}>
          {message.text}
        </div>
      ))}
      {stream.interrupts.map(({ id = "", value }) => (
        <section key={id} className="card" aria-label="Approval">
          <p>{value?.question ?? JSON.stringify(value)}</p>
          {/* With the id: right after a reload, the stream has not shown the question yet. */}
          <button onClick={() => void stream.respond({ approved: true }, { interruptId: id })}>Approve</button>
          <button onClick={() => void stream.respond({ approved: false }, { interruptId: id })}>Reject</button>
        </section>
      ))}
      {stream.error === undefined ? null : <p className="error">{messageOf(stream.error)}</p>}
      <p role="status">{stream.isLoading ? "working" : "ready"}</p>
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {stream.isLoading ? (
          <button type="button" onClick={() => void stream.stop()}>
            Stop
          </button>
        ) : (
          <button disabled={text === ""}>Send</button>
        )}
      </form>
    </main>
  );
}

const place = document.getElementById("chat");
if (place !== null) createRoot(place).render(<Chat />);
