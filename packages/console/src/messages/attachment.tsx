// Attachment: a file of a trace's run, shown in its messages (`attachment:image-1`) and in the list of the span. The
// browser asks for it when it is shown.
import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext } from "react";
import { call } from "../api/client.ts";
import { problemMessage } from "../api/problem.ts";
import { Loading } from "../ui/controls.tsx";
import { saveFile } from "../ui/save-file.ts";
import { showToast } from "../ui/toast.tsx";
import { Visible } from "../text/visible.tsx";
import type { MessageFile } from "./messages.ts";

/** The run whose messages are shown; null outside of traces. */
export const RunOfMessages = createContext<string | null>(null);

const REFERENCE = "attachment:";
/** Without SVG, which could contain text that looks like the console's own. */
const SHOWN = /^image\/(png|jpeg|gif|webp|avif)$/;

interface Stored {
  readonly type: string;
  readonly base64: string;
}

/** @param address a data URL, or `attachment:<name>` */
export function MessageImage({ address }: { readonly address: string }): ReactNode {
  const runId = useContext(RunOfMessages);
  if (!address.startsWith(REFERENCE))
    return <img className="message-image" src={address} alt="Sent in the conversation" />;
  const name = address.slice(REFERENCE.length);
  return runId === null ? <code>{address}</code> : <StoredImage runId={runId} name={name} />;
}

function StoredImage({ runId, name }: { readonly runId: string; readonly name: string }): ReactNode {
  const file = useQuery({
    queryKey: ["attachment", runId, name],
    queryFn: ({ signal }) => call<Stored>("GET", buildAttachmentPath(runId, name), { signal }),
    staleTime: Infinity,
  });
  if (file.isPending) return <Loading label={`Loading ${name}`} />;
  if (file.isError || !SHOWN.test(file.data.type)) return <code>{`${REFERENCE}${name}`}</code>;
  const { type, base64 } = file.data;
  return <img className="message-image" src={`data:${type};base64,${base64}`} alt={`Attachment ${name}`} />;
}

export function FileOfMessage({ file: { reference, label } }: { readonly file: MessageFile }): ReactNode {
  const runId = useContext(RunOfMessages);
  const name = reference.slice(REFERENCE.length);
  return (
    <p>
      File: <Visible text={label} />{" "}
      {runId === null ? (
        <code>{reference}</code>
      ) : (
        <button
          type="button"
          className="text-button"
          aria-label={`Download ${label}`}
          onClick={() => void saveAttachment(runId, name)}
        >
          Download
        </button>
      )}
    </p>
  );
}

/** Saves the file under its name; the type makes the extension. */
export async function saveAttachment(runId: string, name: string): Promise<void> {
  try {
    const { type, base64 } = await call<Stored>("GET", buildAttachmentPath(runId, name));
    const bytes = Uint8Array.from(atob(base64), (char) => char.codePointAt(0) ?? 0);
    saveFile(new Blob([bytes]), `${name}.${/^[\w-]+\/([a-z\d]+)$/.exec(type)?.[1] ?? "bin"}`);
  } catch (error) {
    showToast(problemMessage(error), { tone: "red" });
  }
}

function buildAttachmentPath(runId: string, name: string): string {
  return `/console/api/traces/runs/${runId}/attachments/${encodeURIComponent(name)}`;
}
