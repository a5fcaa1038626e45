// E-mail channel: rows of the outbox → one e-mail to one person.
// Invariants:
//   - An item that is no longer open is not in the e-mail; without any open item there is no e-mail.
//   - An attempt after a crash sends the same message id.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import type { Mailer, Storage } from "@holdpoint/server/ports/ports.ts";
import type { Deliver } from "@holdpoint/server/webhooks/delivery.ts";
import type { MessageBody } from "../items/open-items.ts";
import { LINK_PATH } from "../links/link-page.ts";
import { writeToken } from "../links/link-token.ts";
import { openItems } from "../items/open-items.ts";
import { emailMessage, type ItemLinks } from "./email-message.ts";

export interface EmailChannelPorts {
  readonly storage: Pick<Storage, "transaction">;
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly buildLink: (item: Pick<Interrupt, "threadId" | "interruptId">) => string;
  readonly publicUrl: () => string;
  readonly from: string;
  /** Null: no one-use links. */
  readonly links: { readonly secret: string; readonly forMs: number } | null;
}

export function createEmailChannel(ports: EmailChannelPorts): Deliver {
  const { storage, mailer, clock, buildLink, publicUrl, from, links } = ports;
  return async (rows, signal) => {
    const bodies = rows.map(({ body }) => JSON.parse(body) as MessageBody);
    const items = await openItems(storage, bodies);
    const [first] = bodies;
    if (first === undefined || items.length === 0) return { kind: "sent" };
    const { to, person } = first;
    const buildLinks = (item: Interrupt): ItemLinks => {
      if (links === null || person === null) return { console: buildLink(item), answer: null };
      const expiresAt = clock.now() + links.forMs;
      const { threadId, interruptId } = item;
      const token = writeToken({ threadId, interruptId, person, expiresAt }, links.secret);
      return { console: buildLink(item), answer: `${publicUrl()}${LINK_PATH}/${token}` };
    };
    const messageId = `${rows[0]?.runId ?? ""}@${new URL(publicUrl()).hostname}`;
    const outcome = await mailer.send({ from, to, messageId, ...emailMessage(items, buildLinks) }, signal);
    return outcome.kind === "failed" ? { ...outcome, replied: false } : outcome;
  };
}
