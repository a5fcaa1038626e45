// Encode: TraceRuns → the bytes of a multipart upload (… → assemble → batch → encode → upload). A run is encoded once,
// on arrival, into the buffer of the open batch. Cutting a batch in two uses the offsets of its runs and encodes
// nothing again. Invariants:
//   - The main part of a run comes first, and every part declares its exact length.
//   - No part can hold the boundary: a JSON text cannot contain a line that begins with "--", and attachments too, by a
//     scan.
//   - A part's header never contains an unchecked name or type of a sender.
import { randomBytes } from "node:crypto";
import type { TraceRun } from "../shared/trace-run.ts";

/** One per process, 128 random bits: no sender can know it. */
export const BOUNDARY = `holdpoint-${randomBytes(16).toString("hex")}`;

const BUFFER_BYTES_MIN = 16 * 1024;
const POOL_BUFFERS_MAX = 8;
const POOL_BUFFER_BYTES_MAX = 4 * 1024 * 1024;
/** Room for the headers of one part, names included. */
const PART_OVERHEAD_BYTES = 512;

/** Room for a text of up to this length is three bytes for each character. */
const SHORT_CHARS = 16 * 1024;
const BYTES_A_CHARACTER_MAX = 3;

const pool: Buffer[] = [];

/** Growing bytes of the runs of one batch, without the closing boundary. */
export interface RunWriter {
  readonly bytes: () => number;
  /** Allocated memory. */
  readonly heldBytes: () => number;
  /** `offsets[i]`: start of run i. */
  readonly offsets: readonly number[];
  readonly write: (run: TraceRun) => void;
  /** Ends the body: all bytes, closing boundary included; valid until release(). */
  readonly close: () => Buffer;
  readonly release: () => void;
}

export function createRunWriter(): RunWriter {
  let buffer = pool.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES_MIN);
  let at = 0;
  const offsets: number[] = [];

  function makeRoom(bytes: number): void {
    if (buffer.length - at >= bytes) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at + bytes + BUFFER_BYTES_MIN));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  }

  function jsonPart(name: string, json: string): void {
    const chars = json.length;
    makeRoom(PART_OVERHEAD_BYTES + (chars > SHORT_CHARS ? Buffer.byteLength(json) : BYTES_A_CHARACTER_MAX * chars));
    // The text goes first, behind the room for its header: most texts are ASCII, and counting bytes is a second pass.
    let head = partHead(name, "application/json", chars);
    const start = at + head.length;
    const bytes = buffer.write(json, start, "utf8");
    if (bytes !== chars) {
      head = partHead(name, "application/json", bytes);
      if (at + head.length !== start) buffer.copyWithin(at + head.length, start, start + bytes);
    }
    at += buffer.write(head, at, "latin1") + bytes;
    endPart();
  }

  function attachmentPart(name: string, mimeType: string, content: Uint8Array): void {
    makeRoom(content.length + PART_OVERHEAD_BYTES + 3 * name.length);
    at += buffer.write(partHead(name, mimeType, content.length), at, "utf8");
    buffer.set(content, at);
    at += content.length;
    endPart();
  }

  function endPart(): void {
    buffer[at++] = 0x0d;
    buffer[at++] = 0x0a;
  }

  return {
    offsets,
    bytes: () => at,
    heldBytes: () => buffer.length,
    write(run) {
      offsets.push(at);
      const { content, id } = run;
      const event = run.amends ? "patch" : "post";
      jsonPart(`${event}.${id}`, mainJson(run));
      jsonPart(`${event}.${id}.inputs`, content.inputs);
      if (content.outputs !== "") jsonPart(`${event}.${id}.outputs`, content.outputs);
      for (const attachment of content.attachments) {
        if (
          Buffer.from(attachment.bytes.buffer, attachment.bytes.byteOffset, attachment.bytes.length).includes(BOUNDARY)
        )
          continue; // only by guessing 128 bits
        const name = `attachment.${id}.${safeName(attachment.name)}`;
        attachmentPart(name, safeType(attachment.mimeType), attachment.bytes);
      }
    },
    close() {
      const end = closing(BOUNDARY);
      makeRoom(end.length);
      end.copy(buffer, at);
      return buffer.subarray(0, at + end.length);
    },
    release() {
      if (pool.length < POOL_BUFFERS_MAX && buffer.length <= POOL_BUFFER_BYTES_MAX) pool.push(buffer);
      buffer = EMPTY;
      at = 0;
    },
  };
}

const EMPTY = Buffer.alloc(0);

function partHead(name: string, type: string, length: number): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
}

/**
 * The run without inputs and outputs. Ids, times and the order consist of hex, digits and dashes and need no escaping.
 */
function mainJson(run: TraceRun): string {
  const { content } = run;
  let json = `{"id":"${run.id}","trace_id":"${run.traceId}","dotted_order":"${run.dottedOrder}"`;
  if (run.parentRunId !== "") json += `,"parent_run_id":"${run.parentRunId}"`;
  json += `,"name":${quoted(content.name)},"run_type":"${content.runType}"`;
  json += `,"start_time":"${content.startTime}","end_time":"${content.endTime}","status":"${content.status}"`;
  if (content.error !== "") json += `,"error":${quoted(content.error)}`;
  json +=
    content.sessionId === ""
      ? `,"session_name":${quoted(content.sessionName)}`
      : `,"session_id":${quoted(content.sessionId)}`;
  if (content.tags.length > 0) json += `,"tags":${JSON.stringify(content.tags.map(wellFormed))}`;
  if (content.referenceExampleId !== "") json += `,"reference_example_id":${quoted(content.referenceExampleId)}`;
  if (content.events !== "") json += `,"events":${content.events}`;
  if (content.serialized !== "") json += `,"serialized":${content.serialized}`;
  return `${json},"extra":${content.extra}}`;
}

function quoted(text: string): string {
  return JSON.stringify(wellFormed(text));
}

function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** No dot (it separates), no quote, no control character. */
function safeName(name: string): string {
  return wellFormed(name)
    .replaceAll(/[\u0000-\u001f\u007f".\\]/g, "_")
    .slice(0, 100);
}

function safeType(type: string): string {
  return /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : "application/octet-stream";
}

/** The last line of a body. */
export function closing(boundary: string): Buffer {
  return Buffer.from(`--${boundary}--\r\n`, "latin1");
}
