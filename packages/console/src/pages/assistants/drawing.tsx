// Drawing: the graph of an assistant, the edges of each node, and the breakpoints of a test run.
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Assistant, Drawing } from "../../api/types.ts";
import { GraphFrame, addressMarks } from "../../frames/graph-frame.tsx";
import type { GraphMarks } from "../../graph/graph-view.tsx";
import { breakpointWords } from "../../hooks/search-params.ts";
import { Chip } from "../../ui/controls.tsx";

const assistantsRoute = getRouteApi("/assistants");

export default function DrawingTab({ assistant }: { readonly assistant: Assistant }): ReactNode {
  return (
    <GraphFrame
      assistant={assistant.assistant_id}
      version={assistant.version}
      label={`Graph of ${assistant.name}`}
      marks={useMarks()}
      side={(drawing) => <Side drawing={drawing} />}
    />
  );
}

function useMarks(): GraphMarks {
  const search = assistantsRoute.useSearch();
  const navigate = useNavigate();
  return {
    chooseMark: () => "plain",
    isTraversed: () => false,
    findNote: () => null,
    ...addressMarks(
      search,
      (change) => void navigate({ to: "/assistants", search: { ...search, ...change }, replace: true }),
    ),
  };
}

function Side({ drawing }: { readonly drawing: Drawing }): ReactNode {
  const search = assistantsRoute.useSearch();
  const stops = breakpointWords(search);
  const node = drawing.nodes.find(({ id }) => id === search.node);
  return (
    <aside className="graph-side" aria-label="Graph details" tabIndex={0}>
      {stops.length === 0 ? null : (
        <section className="stack">
          <p className="row">
            <Chip tone="amber">stops {stops.join(", ")}</Chip>
          </p>
          <p>
            <Link to="/assistants" search={{ ...search, tab: "try" }}>
              Try it with these breakpoints
            </Link>
          </p>
        </section>
      )}
      {node === undefined ? (
        <section className="stack muted">
          <p>
            {drawing.nodes.length} nodes, {drawing.edges.length} edges; dashed ones are conditional.
          </p>
          <p>Select a node to see its edges. The dots at a node set a breakpoint before or after it.</p>
        </section>
      ) : (
        <NodeDetail drawing={drawing} node={node.id} />
      )}
    </aside>
  );
}

function NodeDetail({ drawing, node }: { readonly drawing: Drawing; readonly node: string }): ReactNode {
  const into = drawing.edges.filter(({ target }) => target === node);
  const out = drawing.edges.filter(({ source }) => source === node);
  return (
    <section className="stack">
      <h3>{node}</h3>
      <Ends title="Incoming edges" ends={into.map(({ source, conditional }) => ({ node: source, conditional }))} />
      <Ends title="Outgoing edges" ends={out.map(({ target, conditional }) => ({ node: target, conditional }))} />
    </section>
  );
}

const NAMES: Readonly<Record<string, string>> = { __start__: "the start", __end__: "the end" };

function Ends({
  title,
  ends,
}: {
  readonly title: string;
  readonly ends: readonly { readonly node: string; readonly conditional?: boolean | undefined }[];
}): ReactNode {
  return (
    <div>
      <h4 className="muted">{title}</h4>
      {ends.length === 0 ? <p className="muted">none</p> : null}
      <ul>
        {ends.map(({ node, conditional }, at) => (
          <li key={`${node} ${at}`}>
            {NAMES[node] ?? node}
            {conditional === true ? <span className="muted"> (conditional)</span> : null}
          </li>
        ))}
      </ul>
    </div>
  );
}
