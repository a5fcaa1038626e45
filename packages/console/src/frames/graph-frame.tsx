// Graph frame: the drawing of an assistant's graph with its tools; breakpoints are in the URL.
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { call } from "../api/client.ts";
import type { Drawing } from "../api/types.ts";
import { Button, Failure, Loading } from "../ui/controls.tsx";
import { copy } from "../ui/copy.tsx";
import { formatMermaid } from "../graph/graph-layout.ts";
import GraphView, { type GraphMarks } from "../graph/graph-view.tsx";
import { readList, writeList } from "../hooks/search-params.ts";

export function GraphFrame({
  assistant,
  version,
  label,
  marks,
  side,
}: {
  /** Id of the assistant, or the name of its graph. */
  readonly assistant: string;
  readonly version?: number;
  readonly label: string;
  readonly marks: GraphMarks;
  readonly side: (drawing: Drawing) => ReactNode;
}): ReactNode {
  const [open, setOpen] = useState(true);
  const drawing = useQuery({
    queryKey: ["drawing", assistant, version, open],
    queryFn: ({ signal }) =>
      call<Drawing>("GET", `/assistants/${encodeURIComponent(assistant)}/graph`, { query: { xray: open }, signal }),
  });
  if (drawing.isPending) return <Loading />;
  if (drawing.isError) return <Failure error={drawing.error} onRetry={() => void drawing.refetch()} />;
  return (
    <div className="graph-tab">
      <div className="graph-canvas">
        <div className="graph-tools">
          <Button kind="quiet" aria-pressed={open} onClick={() => setOpen(!open)}>
            {open ? "Collapse subgraphs" : "Expand subgraphs"}
          </Button>
          <Button
            kind="quiet"
            icon="copy"
            onClick={() => void copy(formatMermaid(drawing.data), "the graph as Mermaid")}
          >
            Mermaid
          </Button>
        </div>
        <GraphView drawing={drawing.data} marks={marks} label={label} />
      </div>
      {side(drawing.data)}
    </div>
  );
}

export interface GraphSearch {
  readonly node?: string | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Selection and breakpoints from the URL. @param go changes members of the URL */
export function addressMarks(
  search: GraphSearch,
  go: (change: GraphSearch) => void,
): Pick<GraphMarks, "selected" | "onSelect" | "breakpoints"> {
  const before = new Set(readList(search.before));
  const after = new Set(readList(search.after));
  return {
    selected: search.node ?? null,
    onSelect: (node) => go({ node: node === search.node ? undefined : node }),
    breakpoints: {
      before,
      after,
      toggle(side, node) {
        const set = new Set(side === "before" ? before : after);
        if (!set.delete(node)) set.add(node);
        go({ [side]: writeList([...set]) });
      },
    },
  };
}
