// Mailer port: sends one e-mail.

export interface Mail {
  /** `name <address>`, or an address. */
  readonly from: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Without angle brackets; the same for each attempt, so that mailboxes can recognise a repetition. */
  readonly messageId: string;
}

export type MailOutcome =
  | { readonly kind: "sent" }
  /** A retry cannot succeed: the server rejects the recipient or the message for good. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

export interface Mailer {
  /** Host and port of the mail server. */
  readonly host: string;
  /** Never throws. */
  send(mail: Mail, signal: AbortSignal): Promise<MailOutcome>;
}
