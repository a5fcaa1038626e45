// SMTP mailer: the adapter of the port `Mailer` over nodemailer.
// Invariants:
//   - A password is sent over TLS only, except to this machine or with `requireTLS=false` in the address.
//   - Each e-mail has a connection of its own, with limits: a server that hangs holds nothing for longer.
//   - A message cannot name files or addresses to load.
import { createTransport } from "nodemailer";
import type { Mailer, MailOutcome } from "@holdpoint/server/ports/ports.ts";

const TIMEOUT_MS = 10_000;
const PORTS: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 };

export function createSmtpMailer(address: string): Mailer {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? (PORTS[url.protocol] ?? 587) : Number(url.port);
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
  const required = url.searchParams.get("requireTLS");
  const transport = createTransport({
    host,
    port,
    secure: url.protocol === "smtps:",
    requireTLS: required === null ? user !== "" && !isLocal : required !== "false",
    ...(user === "" ? {} : { auth: { user, pass } }),
    ...(url.searchParams.get("name") === null ? {} : { name: url.searchParams.get("name") ?? "" }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    host: `${host}:${port}`,
    async send({ from, to, subject, text, html, messageId }, signal) {
      const sent = transport.sendMail({
        from,
        to,
        subject,
        text,
        html,
        messageId: `<${messageId}>`,
        headers: { "Auto-Submitted": "auto-generated" },
      });
      const aborted = new Promise<"aborted">((resolve) => {
        if (signal.aborted) resolve("aborted");
        else signal.addEventListener("abort", () => resolve("aborted"), { once: true });
      });
      try {
        const outcome = await Promise.race([sent, aborted]);
        if (outcome !== "aborted") return { kind: "sent" };
        sent.catch(() => undefined); // the connection ends by its own limits
        return { kind: "failed", reason: "no reply in time" };
      } catch (error) {
        return readOutcome(error);
      }
    },
  };
}

/** A permanent reply of the server about this e-mail; everything else may pass. */
function readOutcome(error: unknown): MailOutcome {
  const { message, responseCode, code } = error as Error & { readonly responseCode?: number; readonly code?: string };
  const isFinal = responseCode !== undefined && responseCode >= 500 && code !== "EAUTH" && code !== "ECONNECTION";
  return { kind: isFinal ? "refused" : "failed", reason: message.slice(0, 500) };
}
