// Time limit of one test. It bounds hangs, far beyond the needs of a slow and busy machine: no test passes or fails by
// the speed of a machine.
export const PATIENCE = { timeout: 180_000 };
