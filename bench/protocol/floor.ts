// The limit for a stream to many readers: a bare node:http server that sends the bytes of a file to every reader, in
// large shared pieces: the first event at once, the rest once the gate opens. Arguments: file. Prints its port.
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const PIECE_BYTES = 64 * 1024;

const body = readFileSync(process.argv[2] ?? "");
const firstEvent = body.indexOf("\n\n") + 2;
const waiting: ServerResponse[] = [];

function send(response: ServerResponse, from: number): void {
  for (let at = from; at < body.length; at += PIECE_BYTES) {
    if (response.write(body.subarray(at, at + PIECE_BYTES))) continue;
    response.once("drain", () => send(response, at + PIECE_BYTES));
    return;
  }
}

const server = createServer((request, response) => {
  if (request.url === "/gate") {
    response.end();
    for (const one of waiting.splice(0)) send(one, firstEvent);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(body.subarray(0, firstEvent));
  waiting.push(response);
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
