// Palette: pages and actions by name, and items, threads, traces and people that a search finds. Actions are the current
// shortcuts.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { recognise } from "@holdpoint/api/dialects.ts";
import { formatHint } from "@holdpoint/api/text/payload-excerpt.ts";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { call } from "./api/client.ts";
import type { Thread } from "./api/types.ts";
import { countChoices, listInbox } from "./data/inbox/calls.ts";
import { glance } from "./json/excerpt.ts";
import { useEffect, useState, type KeyboardEvent, type ReactNode } from "react";
import { DESTINATIONS } from "./navigation.ts";
import { Key } from "./ui/controls.tsx";
import { Dialog } from "./ui/dialog.tsx";
import { views } from "./hooks/views.ts";
import { reachable } from "./hooks/shortcuts.ts";

interface Action {
  /** What a search found; undefined for pages and actions. */
  readonly kind?: string;
  readonly label: string;
  /** What tells it from others of the same label. */
  readonly hint?: string;
  readonly keys: string;
  readonly run: () => void;
}

const ROWS_MAX = 50;
const FOUND_MAX = 5;
const WAIT_MS = 150;
/** As lists show ids of threads, or the whole. */
const ID_START = /^[0-9a-f]{8}-[0-9a-f]{4}[0-9a-f-]{0,23}$/i;

/** What the server knows under these words; empty while it is asked. A part that is absent or refused is left out. */
function useFound(text: string): readonly Action[] {
  const navigate = useNavigate();
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const enabled = asked.length > 1;
  const q = asked;
  const options = { enabled, retry: false } as const;
  const items = useQuery({
    queryKey: ["palette", "items", q],
    queryFn: ({ signal }) => listInbox({ q, limit: FOUND_MAX, values: "false" }, signal),
    ...options,
  });
  const threads = useQuery({
    queryKey: ["palette", "threads", q],
    queryFn: ({ signal }) =>
      call<readonly Thread[]>("POST", "/threads/search", {
        body: { ...(ID_START.test(q) ? { id_prefix: q } : { q }), limit: FOUND_MAX },
        signal,
      }),
    ...options,
  });
  const traces = useQuery({
    queryKey: ["palette", "traces", q],
    queryFn: ({ signal }) =>
      call<{ readonly items: readonly TraceItem[] }>("GET", "/console/api/traces", {
        query: { q, limit: FOUND_MAX },
        signal,
      }),
    ...options,
  });
  const people = useQuery({
    queryKey: ["palette", "people", q],
    queryFn: ({ signal }) => countChoices({}, signal),
    ...options,
  });
  if (!enabled) return [];
  const has = (name: string | null): name is string => name !== null && name.toLowerCase().includes(q.toLowerCase());
  return [
    ...(items.data?.items ?? []).map((item) => ({
      kind: "Item",
      label: item.title,
      hint: formatHint(item),
      keys: "",
      run: () =>
        void navigate({
          to: "/inbox/$threadId/$interruptId",
          params: { threadId: item.thread_id, interruptId: item.id },
        }),
    })),
    ...(threads.data ?? []).map(({ thread_id: threadId, metadata, status, interrupts }) => ({
      kind: "Thread",
      label: `${shortId(threadId)} ${glance(metadata["graph_id"] ?? "", 40)} · ${status}`,
      hint: nameQuestion(interrupts),
      keys: "",
      run: () => void navigate({ to: "/threads/$threadId", params: { threadId } }),
    })),
    ...(traces.data?.items ?? []).slice(0, FOUND_MAX).map(({ trace_id: traceId, name, input }) => ({
      kind: "Trace",
      label: `${name} ${shortId(traceId)}`,
      hint: input ?? "",
      keys: "",
      run: () => void navigate({ to: "/traces/$traceId", params: { traceId } }),
    })),
    ...(people.data?.claimed_by ?? [])
      .map(({ value }) => value)
      .filter(has)
      .map((name) => ({
        kind: "Person",
        label: `Items of ${name}`,
        keys: "",
        run: () => void navigate({ to: "/inbox", search: { claim: name } }),
      })),
  ];
}

/** The first question of a thread; empty without one. */
function nameQuestion(interrupts: Thread["interrupts"]): string {
  const [question] = Object.values(interrupts).flat();
  return question === undefined ? "" : recognise(question.value ?? null, null).title;
}

export function Palette({
  onClose,
  onOpen,
}: {
  readonly onClose: () => void;
  readonly onOpen: (what: "preferences" | "help") => void;
}): ReactNode {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  // Captured when the palette opened: its own layer hides the keys below.
  const [actions] = useState<readonly Action[]>(() => [
    ...DESTINATIONS.map(({ to, label, key }) => ({ label, keys: `g ${key}`, run: () => void navigate({ to }) })),
    ...views
      .get()
      .map(({ name, path, search }) => ({ label: name, keys: "", run: () => void navigate({ to: path, search }) })),
    ...reachable()
      .flatMap(({ shortcuts }) => shortcuts)
      .filter(({ keys }) => !keys.startsWith("g ") && keys !== "Mod+k"),
    { label: "Preferences", keys: "", run: () => onOpen("preferences") },
  ]);
  const words = text.toLowerCase().split(/\s+/);
  const named = actions.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const found = [...named, ...useFound(text)].slice(0, ROWS_MAX);
  const choose = (action: Action | undefined): void => {
    if (action === undefined) return;
    onClose();
    queueMicrotask(action.run); // after the dialog has closed, so that it does not close the next one
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && found.length > 0) setAt((at + step + found.length) % found.length);
    else if (event.key === "Enter") choose(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        className="palette-input"
        autoFocus
        aria-label="Page, action, item, thread, trace or person"
        placeholder="Page, action, item, thread, trace or person"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[at] === undefined ? undefined : `palette-${at}`}
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
      />
      <ul id="palette-list" className="palette-list" role="listbox" aria-label="Results">
        {found.map((action, index) => (
          <li
            key={`${action.keys} ${action.kind ?? ""} ${action.label} ${index}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            className="palette-row"
            onClick={() => choose(action)}
            onPointerMove={() => setAt(index)}
          >
            {action.kind === undefined ? null : <span className="muted palette-kind">{action.kind} </span>}
            <span className="truncate palette-label">{action.label}</span>
            {(action.hint ?? "") === "" ? null : (
              <span className="muted truncate palette-hint" dir="auto">
                {action.hint}
              </span>
            )}
            {action.keys === "" ? null : <Key keys={action.keys} />}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
