// Graph fingerprint: the parts of its graph that a paused thread depends on, and whether another deployment still has
// them.
// Only pending nodes and channels with a value matter; additions and order never do.
import type { Fingerprint } from "../../model/model.ts";
import type { StoredCheckpoint } from "../../ports/ports.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import { type CompiledGraph, localSubgraphs } from "../langgraph/compiled-graph.ts";

export async function computeFingerprint(graphId: string, graph: CompiledGraph): Promise<Fingerprint> {
  const nodes: Record<string, readonly string[]> = { "": Object.keys(graph.nodes) };
  const channels: Record<string, Record<string, string>> = { "": channelClasses(graph) };
  for await (const [path, subgraph] of localSubgraphs(graph)) {
    nodes[path] = Object.keys(subgraph.nodes);
    channels[path] = channelClasses(subgraph);
  }
  const outputs = graph.streamChannelsAsIs;
  const hash = contentHash(JSON.stringify([graphId, nodes, channels, outputs])).slice(0, 22);
  return { hash, graphId, nodes, channels, outputs };
}

function channelClasses(graph: CompiledGraph): Record<string, string> {
  const classes: Record<string, string> = {};
  for (const [name, channel] of Object.entries(graph.channels)) classes[name] = channel.lc_graph_name ?? "unknown";
  return classes;
}

/**
 * The parts of `then`, needed by the checkpoint `stored`, that `now` lacks. Empty if the thread can continue.
 * @param pausedAt namespaces of the open interrupts, `["node:<task uuid>", …]` each
 */
export function missingParts(
  now: Fingerprint,
  then: Fingerprint,
  stored: StoredCheckpoint,
  pausedAt: readonly (readonly string[])[],
): readonly string[] {
  if (now.hash === then.hash) return [];
  if (now.graphId !== then.graphId) return [`graph ${then.graphId} (this is ${now.graphId})`];
  const missing = new Set<string>();
  for (const ns of pausedAt) {
    const names = ns.map((part) => part.split(":")[0] ?? "");
    names.forEach((name, depth) => {
      const path = names.slice(0, depth).join("|");
      // A task called by a node is in no graph: only an existing node can be missing.
      const was = then.nodes[path]?.includes(name) === true;
      const is = now.nodes[path]?.includes(name) ?? true;
      if (was && !is) missing.add(`node ${names.slice(0, depth + 1).join(" > ")}`);
    });
  }
  for (const channel of [...stored.values.keys(), ...rebuiltChannels(then, stored)]) {
    // A value in this channel marks a node that runs next.
    const next = channel.startsWith("branch:to:") ? channel.slice("branch:to:".length) : null;
    if (next !== null && now.nodes[""]?.includes(next) !== true) missing.add(`node ${next}`);
    else if (now.channels[""]?.[channel] !== then.channels[""]?.[channel])
      missing.add(`channel ${channel} of kind ${then.channels[""]?.[channel] ?? "unknown"}`);
  }
  return [...missing];
}

/** A written DeltaChannel holds a value, although most checkpoints lack it. */
function rebuiltChannels({ channels }: Fingerprint, { checkpoint, values }: StoredCheckpoint): readonly string[] {
  const names = Object.entries(channels[""] ?? {}).filter(
    ([name, kind]) => kind === "DeltaChannel" && !values.has(name),
  );
  if (names.length === 0) return [];
  const { versions } = JSON.parse(checkpoint.body) as { readonly versions: Readonly<Record<string, unknown>> };
  return names.map(([name]) => name).filter((name) => versions[name] !== undefined);
}
