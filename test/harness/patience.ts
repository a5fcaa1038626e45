// How long one test may take. A bound on what hangs, far beyond what a slow and busy machine needs: no test passes or
// fails by how fast a machine is.
export const PATIENCE = { timeout: 180_000 };
