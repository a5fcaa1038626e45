// Upload job: a sealed batch, or the rest of one, that waits in a tenant queue.
import type { Body } from "../encode/batch-body.ts";
import type { Refusal } from "./upload.ts";

export interface UploadJob {
  readonly tenantId: string;
  readonly createdMs: number;
  readonly runs: number;
  /** Bytes in memory while the job is queued: 0 when they are in the spool. */
  readonly heldBytes: number;
  /** Resolves with null when the body is no longer readable (and already counted as lost). */
  readonly load: () => Promise<Body | null>;
  /** The unsent part of the body as a new job. */
  readonly remainder: (body: Body) => UploadJob;
  readonly delivered: (body: Body) => void;
  /** Moves the runs of the refused body to the dead letters. */
  readonly refused: (refusal: Refusal) => Promise<void>;
}
