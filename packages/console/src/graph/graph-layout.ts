// Graph layout: a drawing as positioned boxes and arrows, from top to bottom. Pure.
import { graphlib, layout } from "@dagrejs/dagre";
import type { Drawing } from "../api/types.ts";

export interface Box {
  readonly id: string;
  readonly label: string;
  /** Start or end of the graph: drawn as a small pill. */
  readonly terminal: boolean;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Arrow {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly label: string | null;
  readonly conditional: boolean;
  /** A back edge: leads up. */
  readonly back: boolean;
  /** Routed between the boxes, around obstacles. */
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Plan {
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

const WIDTH_MIN = 132;
const WIDTH_MAX = 280;
const UNIT_WIDTH = 8;
const PADDING = 56;
const HEIGHT = 46;
const TERMINAL = { width: 76, height: 28 } as const;
const NAMES: Readonly<Record<string, string>> = { __start__: "start", __end__: "end" };

export function layOutPlan({ nodes, edges }: Drawing): Plan {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 44, ranksep: 56, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(nodes.map(({ id }) => id));
  for (const { id } of nodes) graph.setNode(id, measureNode(id));
  const drawn = edges.filter(({ source, target }) => known.has(source) && known.has(target));
  drawn.forEach(({ source, target }, at) => graph.setEdge(source, target, {}, String(at)));
  layout(graph);
  const boxes = nodes.map(({ id }): Box => {
    const { x, y, width, height } = graph.node(id);
    return { id, label: NAMES[id] ?? id, terminal: id in NAMES, x: x - width / 2, y: y - height / 2, width, height };
  });
  const heights = new Map(boxes.map(({ id, y }) => [id, y]));
  return {
    boxes,
    arrows: drawn.map(({ source, target, data, conditional }, at) => ({
      id: String(at),
      source,
      target,
      label: data === undefined || data === target ? null : data,
      conditional: conditional === true,
      back: (heights.get(target) ?? 0) <= (heights.get(source) ?? 0),
      points: (graph.edge(source, target, String(at)) as { readonly points: readonly Point[] }).points,
    })),
  };
}

function measureNode(id: string): { readonly width: number; readonly height: number } {
  if (id in NAMES) return { ...TERMINAL };
  return { width: Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, id.length * UNIT_WIDTH + PADDING)), height: HEIGHT };
}

/** Through all points, with rounded corners: a path for SVG. */
export function pathThrough([first, ...points]: readonly Point[]): string {
  if (first === undefined) return "";
  const last = points.at(-1);
  if (last === undefined) return "";
  const parts = [`M${first.x} ${first.y}`];
  points.slice(0, -1).forEach((point, at) => {
    const next = points[at + 1] ?? point;
    const end = at === points.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    parts.push(`Q${point.x} ${point.y} ${end.x} ${end.y}`);
  });
  if (points.length === 1) parts.push(`L${last.x} ${last.y}`);
  return parts.join(" ");
}

/** The drawing as Mermaid text, for documents. */
export function formatMermaid({ nodes, edges }: Drawing): string {
  const names = new Map(nodes.map(({ id }, at) => [id, `n${at}`]));
  const lines = nodes.map(({ id }) => {
    const label = JSON.stringify(NAMES[id] ?? id).replaceAll("\\", "");
    return `  ${names.get(id) ?? id}${id in NAMES ? `([${label}])` : `[${label}]`}`;
  });
  const arrows = edges.map(
    ({ source, target, conditional }) =>
      `  ${names.get(source) ?? source} ${conditional === true ? "-.->" : "-->"} ${names.get(target) ?? target}`,
  );
  return ["flowchart TD", ...lines, ...arrows].join("\n");
}
