// Graph view: a graph with the state of its nodes. In its own chunk: import it lazily.
import {
  Background,
  BaseEdge,
  Controls,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from "@xyflow/react";
import { createContext, useContext, useMemo, type ReactNode } from "react";
import type { Drawing } from "../api/types.ts";
import { pathThrough, layOutPlan, type Arrow, type Box } from "./graph-layout.ts";
import "@xyflow/react/dist/style.css";
import "./graph-view.css";

export type NodeMark = "done" | "paused" | "running" | "failed" | "never" | "plain";

export interface GraphMarks {
  readonly chooseMark: (node: string) => NodeMark;
  /** The run took this edge, as far as known. */
  readonly isTraversed: (source: string, target: string) => boolean;
  /** Text below the name. */
  readonly findNote: (node: string) => string | null;
  readonly selected: string | null;
  readonly onSelect: (node: string) => void;
  /** Null: breakpoints are not available. */
  readonly breakpoints: {
    readonly before: ReadonlySet<string>;
    readonly after: ReadonlySet<string>;
    readonly toggle: (side: "before" | "after", node: string) => void;
  } | null;
}

const Marks = createContext<GraphMarks | null>(null);
type BoxNode = Node<{ readonly box: Box }, "box">;
type ArrowEdge = Edge<{ readonly arrow: Arrow }, "arrow">;
const NODE_TYPES = { box: BoxView };
const EDGE_TYPES = { arrow: ArrowView };
/** Tools at the top. */
const FIT = { maxZoom: 1.1, padding: { top: "52px", x: "28px", bottom: "28px" } } as const;

export default function GraphView({
  drawing,
  marks,
  label,
}: {
  readonly drawing: Drawing;
  readonly marks: GraphMarks;
  readonly label: string;
}): ReactNode {
  const plan = useMemo(() => layOutPlan(drawing), [drawing]);
  const nodes = useMemo(
    () =>
      plan.boxes.map((box): BoxNode => {
        const { id, x, y, width, height } = box;
        return {
          id,
          type: "box",
          position: { x, y },
          width,
          height,
          measured: { width, height },
          data: { box },
          draggable: false,
        };
      }),
    [plan],
  );
  const edges = plan.arrows.map((arrow): ArrowEdge => {
    const { id, source, target, label: words, conditional } = arrow;
    const isTraversed = marks.isTraversed(source, target);
    const className = [conditional ? "conditional" : "", isTraversed ? "taken" : ""]
      .filter((one) => one !== "")
      .join(" ");
    const color = isTraversed ? "var(--accent)" : "var(--graph-arrow)";
    return {
      id,
      source,
      target,
      type: "arrow",
      data: { arrow },
      className,
      markerEnd: { type: MarkerType.ArrowClosed, width: 15, height: 15, color },
      ...(words === null ? {} : { label: words }),
    };
  });
  return (
    <Marks.Provider value={marks}>
      <div className="graph-view" role="group" aria-label={label}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          fitView
          fitViewOptions={FIT}
          minZoom={0.2}
          maxZoom={2}
          nodesFocusable={false}
          edgesFocusable={false}
          nodesConnectable={false}
          elementsSelectable={false}
          zoomOnScroll={false}
          panOnScroll
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={20} size={1} color="var(--graph-dots)" />
          <Controls showInteractive={false} />
        </ReactFlow>
      </div>
    </Marks.Provider>
  );
}

function ArrowView({ data, markerEnd, label }: EdgeProps<ArrowEdge>): ReactNode {
  const points = data?.arrow.points ?? [];
  const middle = points[Math.floor(points.length / 2)];
  return (
    <BaseEdge
      path={pathThrough(points)}
      {...(markerEnd === undefined ? {} : { markerEnd })}
      {...(label === undefined || middle === undefined ? {} : { label, labelX: middle.x, labelY: middle.y })}
    />
  );
}

const SAID: Readonly<Record<NodeMark, string>> = {
  done: "has run",
  paused: "paused here",
  running: "running",
  failed: "failed",
  never: "has not run",
  plain: "",
};

function BoxView({ data: { box } }: NodeProps<BoxNode>): ReactNode {
  const marks = useContext(Marks);
  if (marks === null) return null;
  const mark = marks.chooseMark(box.id);
  const note = marks.findNote(box.id);
  return (
    <div className={`graph-box ${box.terminal ? "terminal" : mark} ${marks.selected === box.id ? "selected" : ""}`}>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      {box.terminal ? (
        <span>{box.label}</span>
      ) : (
        <>
          <Dot marks={marks} side="before" node={box.id} />
          <button type="button" className="graph-name nodrag" onClick={() => marks.onSelect(box.id)} title={box.label}>
            <span className="truncate">{box.label}</span>
            <span className="visually-hidden">{SAID[mark]}</span>
            {note === null ? null : <span className="graph-note truncate">{note}</span>}
          </button>
          <Dot marks={marks} side="after" node={box.id} />
        </>
      )}
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}

function Dot({
  marks: { breakpoints },
  side,
  node,
}: {
  readonly marks: GraphMarks;
  readonly side: "before" | "after";
  readonly node: string;
}): ReactNode {
  if (breakpoints === null) return null;
  const label = `Stop ${side} ${node}`;
  return (
    <button
      type="button"
      className={`graph-dot nodrag ${side}`}
      aria-pressed={breakpoints[side].has(node)}
      aria-label={label}
      title={`${label} in the next run`}
      onClick={() => breakpoints.toggle(side, node)}
    />
  );
}
