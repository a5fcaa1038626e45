// Tiles: the current state of the collector in a few figures; problems are red or amber.
import type { ReactNode } from "react";
import { bytes, count, duration } from "../../ui/format.ts";
import { quantileOf, sharesOf, sumOf, type Figure } from "../../charts/prometheus.ts";
import { rateNow, type RateSample } from "./rates.ts";

const MS = 1000;
const FULL_SHARE = 0.8;

export function Tiles({
  figures,
  moments,
}: {
  readonly figures: readonly Figure[];
  readonly moments: readonly RateSample[];
}): ReactNode {
  const total = (name: string): number => sumOf(figures, `otelcol_${name}`);
  const [raw, packed] = [
    total("exporter_batch_uncompressed_bytes_total"),
    total("exporter_batch_compressed_bytes_total"),
  ];
  const [queued, capacity] = [total("exporter_queue_size"), total("exporter_queue_capacity")];
  const uploads = [0.5, 0.95, 0.99].map((share) => quantileOf(figures, "otelcol_exporter_upload_seconds", share));
  const [dropped, resting] = [total("exporter_dropped_spans_total"), total("exporter_resting_keys")];
  const refused = sharesOf(figures, "http_server_requests_total", "status").filter(([status]) => status !== "200");
  return (
    <dl className="tiles" aria-label="Figures">
      <Tile
        name="Requests"
        value={perSecond(rateNow(moments, "requests"))}
        note={
          refused.length === 0 ? "all accepted" : refused.map(([status, sum]) => `${count(sum)} × ${status}`).join(", ")
        }
        tone={refused.length === 0 ? null : "amber"}
      />
      <Tile
        name="Spans in"
        value={perSecond(rateNow(moments, "received"))}
        note={`${count(total("receiver_accepted_spans_total"))} accepted, ${count(total("receiver_rejected_spans_total"))} rejected`}
      />
      <Tile
        name="Spans out"
        value={perSecond(rateNow(moments, "sent"))}
        note={`${count(total("exporter_sent_spans_total"))} delivered, ${count(total("exporter_pending_spans"))} in flight`}
      />
      <Tile
        name="Uploaded"
        value={`${bytes(Math.round(rateNow(moments, "packedBytes") ?? 0))}/s`}
        note={
          packed === 0 ? "nothing yet" : `${bytes(raw)} packed into ${bytes(packed)}, ${(raw / packed).toFixed(1)} to 1`
        }
      />
      <Tile
        name="Buffer"
        value={bytes(queued)}
        note={`of ${bytes(capacity)}; ${count(total("exporter_queue_runs"))} in sealed batches`}
        tone={capacity > 0 && queued > capacity * FULL_SHARE ? "amber" : null}
        share={capacity === 0 ? 0 : queued / capacity}
      />
      <Tile
        name="Uploads in progress"
        value={count(total("exporter_inflight_uploads"))}
        note={
          uploads[0] === null
            ? "none finished yet"
            : `p50 ${secs(uploads[0])}, p95 ${secs(uploads[1])}, p99 ${secs(uploads[2])}`
        }
      />
      <Tile
        name="Retries"
        value={count(total("exporter_retries_total"))}
        note={resting === 0 ? "no keys backing off" : `${count(resting)} backing off`}
        tone={resting === 0 ? null : "amber"}
      />
      <Tile
        name="Dead letters"
        value={count(total("exporter_dead_letter_spans_total"))}
        note={reasons(figures, "otelcol_exporter_dead_letter_spans_total") || "no dead letters"}
        tone={total("exporter_dead_letter_spans_total") === 0 ? null : "amber"}
      />
      <Tile
        name="Lost"
        value={count(dropped)}
        note={reasons(figures, "otelcol_exporter_dropped_spans_total") || "nothing"}
        tone={dropped === 0 ? null : "red"}
      />
      <Tile
        name="Waiting for a parent"
        value={count(total("processor_waiting_spans"))}
        note={`traces remembered: ${count(total("processor_traces"))}`}
      />
    </dl>
  );
}

const perSecond = (rate: number | null): string =>
  rate === null ? "–" : `${rate >= 10 || rate === 0 ? count(Math.round(rate)) : rate.toFixed(1)}/s`;

const secs = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : duration(value * MS);

const reasons = (figures: readonly Figure[], name: string): string =>
  sharesOf(figures, name, "reason")
    .map(([reason, sum]) => `${count(sum)} ${reason.replaceAll("_", " ")}`)
    .join(", ");

function Tile({
  name,
  value,
  note,
  tone = null,
  share,
}: {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly tone?: "amber" | "red" | null;
  /** Fill level, 0 to 1. */
  readonly share?: number;
}): ReactNode {
  return (
    <div className={`tile card ${tone ?? ""}`}>
      <dt>{name}</dt>
      <dd className="tile-value numeric">{value}</dd>
      <dd className="muted small">{note}</dd>
      {share === undefined ? null : (
        <dd className="tile-track" aria-hidden="true">
          <span style={{ width: `${Math.min(1, share) * 100}%` }} />
        </dd>
      )}
    </div>
  );
}
