// A mailbox: a real SMTP server that keeps what it receives, with its headers and parts decoded.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text as readStream } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

export interface ReceivedMail {
  readonly to: readonly string[];
  /** Lower-case names; folded lines are one. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  readonly html: string;
}

export interface Mailbox {
  /** For SMTP_URL. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Replies with this code to the next recipients. */
  refuse(times: number, code: number): void;
  /** The mails whose whole text has this, once there are so many. */
  came(text: string, count?: number): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

export async function startMailbox(): Promise<Mailbox> {
  const mails: ReceivedMail[] = [];
  const watching = new Set<() => void>();
  let refusals: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo(_address, _session, callback) {
      const code = refusals.shift();
      callback(code === undefined ? null : Object.assign(new Error("refused"), { responseCode: code }));
    },
    onData(stream, { envelope }, callback) {
      void readStream(stream).then((raw) => {
        mails.push(
          parsed(
            raw,
            envelope.rcptTo.map(({ address }) => address),
          ),
        );
        callback();
        for (const look of watching) look();
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refuse: (times, code) => void (refusals = Array.from({ length: times }, () => code)),
    came(text, count = 1) {
      return new Promise((resolve) => {
        const look = (): void => {
          const found = mails.filter((mail) => `${mail.text}${mail.html}`.includes(text));
          if (found.length < count) return;
          watching.delete(look);
          resolve(found);
        };
        watching.add(look);
        look();
      });
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

function parsed(raw: string, to: readonly string[]): ReceivedMail {
  const [head, body] = split(raw);
  const headers = parseHeaders(head);
  const header = (name: string): string | undefined => headers.find(([one]) => one === name)?.[1];
  const boundary = /boundary="([^"]+)"/.exec(header("content-type") ?? "")?.[1] ?? "";
  const parts = body.split(`--${boundary}`).map((part) => {
    const [partHead, content] = split(part.replace(/^\r\n/, ""));
    const own = new Map(parseHeaders(partHead));
    return { type: own.get("content-type") ?? "", text: decoded(content, own.get("content-transfer-encoding") ?? "") };
  });
  const findPartText = (type: string): string => parts.find((part) => part.type.startsWith(type))?.text ?? "";
  return { to, headers, header, text: findPartText("text/plain"), html: findPartText("text/html") };
}

function split(text: string): readonly [head: string, body: string] {
  const at = text.indexOf("\r\n\r\n");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 4)];
}

function parseHeaders(head: string): readonly (readonly [string, string])[] {
  const lines = head.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  return lines
    .filter((line) => line.includes(":"))
    .map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).toLowerCase(), decodedWords(line.slice(at + 1).trim())];
    });
}

function decodedWords(text: string): string {
  const joined = text.replaceAll(/\?=\s+=\?/g, "?==?");
  return joined.replaceAll(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, content: string) =>
    kind.toLowerCase() === "b"
      ? Buffer.from(content, "base64").toString()
      : decoded(content.replaceAll("_", " "), "quoted-printable"),
  );
}

function decoded(text: string, encoding: string): string {
  if (encoding === "base64") return Buffer.from(text, "base64").toString();
  if (encoding !== "quoted-printable") return text;
  const bytes = text
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
