// Attachment reference: stands for media in the texts of a run, `attachment:<name>`.
export const MEDIA_REFERENCE = "attachment:";

export const ATTACHMENTS_MAX = 100;

const REFERENCE = /attachment:((?:image|audio|video|file)-\d{1,3})(?![\w-])/g;

/** The text with media in place of the references that `findUrl` knows. */
export function withMedia(text: string, findUrl: (name: string) => string | undefined): string {
  if (!text.includes(MEDIA_REFERENCE)) return text;
  return text.replaceAll(REFERENCE, (reference, name: string) => findUrl(name) ?? reference);
}
