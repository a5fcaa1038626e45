// Upload body: the bytes of an upload, limited while they arrive and while they are decompressed.
// Invariant: at most `bytesMax` are in memory, on the encoded or decompressed, whatever the headers declare.
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { refuseBody } from "@holdpoint/base/http/server/body.ts";

const inflate = { gzip: promisify(gunzip), zstd: promisify(zstdDecompress) } as const;

/** @throws {ApiError} `body_too_large`, `unsupported_media_type`, `malformed_request` */
export async function readUpload(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const encoding = incoming.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip" && encoding !== "zstd")
    throw new ApiError("unsupported_media_type", `Content-Encoding ${encoding} is not supported.`);
  const encoded = await readEncoded(incoming, bytesMax);
  if (encoding === "identity") return encoded;
  try {
    return await inflate[encoding](encoded, { maxOutputLength: bytesMax });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new ApiError("malformed_request", `The body is not valid ${encoding}.`);
  }
}

async function readEncoded(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (Number(incoming.headers["content-length"] ?? 0) > bytesMax) throw refuseBody(incoming, bytesMax);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) throw refuseBody(incoming, bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError("body_too_large", `The limit is ${bytesMax} bytes.`);
}
