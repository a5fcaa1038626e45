// Gates: a node of a graph waits for its test, where both are in one process but load this file apart.
const NAME = Symbol.for("gates of tests");
const shared = globalThis as unknown as Record<symbol, Map<string, PromiseWithResolvers<void>> | undefined>;

export function findGate(name: string): PromiseWithResolvers<void> {
  const gates = (shared[NAME] ??= new Map());
  const gate = gates.get(name) ?? Promise.withResolvers<void>();
  gates.set(name, gate);
  return gate;
}
