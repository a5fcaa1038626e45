// Thread context: the state of the thread beside the question, with what its last step changed, and the graph with the
// node that asks. Context only: nothing in it holds a decision back.
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState, type ReactNode } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { call } from "../../api/client.ts";
import type { Drawing, ThreadState } from "../../api/types.ts";
import type { GraphMarks } from "../../graph/graph-view.tsx";
import { isObject, sameJson, type JsonObject } from "../../json/json.ts";
import { ValueTable } from "../../json/value-table.tsx";
import { Folds } from "../../text/folds.tsx";
import { Failure, Loading } from "../../ui/controls.tsx";

const GraphView = lazy(() => import("../../graph/graph-view.tsx"));

export function useThreadState(threadId: string, enabled: boolean) {
  return useQuery({
    queryKey: ["threads", threadId, "state"],
    queryFn: ({ signal }) => call<ThreadState>("GET", `/threads/${threadId}/state`, { signal }),
    enabled,
  });
}

/** @param isMain the thread has no messages: its state is the context */
export function StatePanel({ item, isMain }: { readonly item: InboxItem; readonly isMain: boolean }): ReactNode {
  const [open, toggle] = useFolded("state", isMain);
  const { data, error } = useThreadState(item.thread_id, open);
  const parent = data?.parent_checkpoint?.checkpoint_id ?? null;
  const before = useQuery({
    queryKey: ["thread-checkpoint", item.thread_id, parent],
    queryFn: ({ signal }) => call<ThreadState>("GET", `/threads/${item.thread_id}/state/${parent ?? ""}`, { signal }),
    enabled: open && parent !== null,
    staleTime: Number.POSITIVE_INFINITY, // a checkpoint never changes
  });
  const values = isObject(data?.values) ? withoutMessages(data.values) : {};
  const old = isObject(before.data?.values) ? before.data.values : null;
  const changed =
    old === null ? [] : Object.keys(values).filter((name) => !sameJson(values[name] ?? null, old[name] ?? null));
  return (
    <details className="fold" open={open} onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>
        State of the thread{changed.length === 0 ? "" : ` · ${changed.length} changed by the last step`}
      </summary>
      {error === null ? null : <Failure error={error} />}
      {data === undefined && error === null && open ? <Loading /> : null}
      {data === undefined || !open ? null : Object.keys(values).length === 0 ? (
        <p className="muted">The state has nothing else.</p>
      ) : (
        <Folds>
          <ValueTable value={values} label="State of the thread" marked={changed} />
        </Folds>
      )}
    </details>
  );
}

/** The conversation shows them. */
function withoutMessages(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name !== "messages"));
}

export function GraphPanel({ item }: { readonly item: InboxItem }): ReactNode {
  const [open, toggle] = useFolded("graph", false);
  const drawing = useQuery({
    queryKey: ["drawing", item.assistant_id, undefined, false],
    queryFn: ({ signal }) =>
      call<Drawing>("GET", `/assistants/${encodeURIComponent(item.assistant_id)}/graph`, {
        query: { xray: false },
        signal,
      }),
    enabled: open,
  });
  const marks = useMemo(() => markAsking(item), [item]);
  const where = `${item.state === "open" ? "waiting" : "asked"} at ${item.node}`;
  return (
    <details className="fold" open={open} onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>Graph · {where}</summary>
      {drawing.error === null ? null : <Failure error={drawing.error} />}
      {drawing.data === undefined || !open ? null : (
        <div className="item-graph">
          <Suspense fallback={<Loading />}>
            <GraphView drawing={drawing.data} marks={marks} label={`Graph, ${where}`} />
          </Suspense>
        </div>
      )}
    </details>
  );
}

/** The node of the top graph: the first of the namespace, where a subgraph asks. */
function markAsking({ node, ns }: InboxItem): GraphMarks {
  const asking = new Set([...node.split(", "), ...ns.slice(0, 1).map((part) => part.split(":")[0] ?? "")]);
  return {
    chooseMark: (one) => (asking.has(one) ? "paused" : "plain"),
    isTraversed: () => false,
    findNote: (one) => (asking.has(one) ? "asks here" : null),
    selected: null,
    onSelect: () => undefined,
    breakpoints: null,
  };
}

/** Open or closed, as a person left it. */
function useFolded(name: string, isOpen: boolean): readonly [open: boolean, toggle: (open: boolean) => void] {
  const key = `holdpoint.item_${name}`;
  const [open, setOpen] = useState(() => (localStorage.getItem(key) ?? (isOpen ? "open" : "closed")) === "open");
  return [
    open,
    (next) => {
      if (next === open) return;
      setOpen(next);
      localStorage.setItem(key, next ? "open" : "closed");
    },
  ];
}
