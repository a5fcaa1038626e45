// Request view: the request in readable form.
import type { ReactNode } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { readContent } from "@holdpoint/api/text/payload-content.ts";
import { isObject, type Json } from "../json/json.ts";
import { LongText } from "../text/long-text.tsx";
import { ValueTable } from "../json/value-table.tsx";
import type { Action, Request } from "./model/request.ts";

export function RequestView({ request, item }: { readonly request: Request; readonly item: InboxItem }): ReactNode {
  switch (request.kind) {
    case "actions":
      return request.actions.map((action, at) => (
        // Actions have no unique names: one tool may occur twice.
        <ActionView key={at} action={action} place={request.actions.length > 1 ? at + 1 : null} />
      ));
    case "breakpoint":
      return (
        <section className="block">
          <h3>Breakpoint</h3>
          <p>
            A breakpoint before <strong>{item.node}</strong>. It has no question. Continuing runs the node.
          </p>
        </section>
      );
    case "form":
    case "plain":
      return <Payload payload={request.payload} />;
    default:
      return request satisfies never;
  }
}

function ActionView({ action, place }: { readonly action: Action; readonly place: number | null }): ReactNode {
  return (
    <section className="block">
      <h3 className="row">
        {place === null ? null : <span className="place">{place}</span>}
        <code>{action.name}</code>
      </h3>
      {action.description === null ? null : <LongText text={action.description} rendered />}
      <ValueTable value={action.args} label={`Arguments of ${action.name}`} />
    </section>
  );
}

/** Members of the question itself; the others appear below it. */
const QUESTION_NAMES = ["question", "message", "prompt", "description", "text"] as const;

function Payload({ payload }: { readonly payload: Json }): ReactNode {
  if (typeof payload === "string") {
    return (
      <section className="block question">
        {payload.trim() === "" ? (
          <p className="muted">The question is an empty string.</p>
        ) : (
          <LongText text={payload} rendered />
        )}
      </section>
    );
  }
  const content = readContent(payload);
  const members = isObject(content) ? content : null;
  const name = QUESTION_NAMES.find((one) => typeof members?.[one] === "string");
  const question = name === undefined ? null : members?.[name];
  const rest = members === null ? payload : Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));
  const isEmpty = isObject(rest) && Object.keys(rest).length === 0;
  return (
    <section className="block question">
      {typeof question === "string" ? <LongText text={question} rendered /> : null}
      {isEmpty && name === undefined ? <p className="muted">The question is an empty object.</p> : null}
      {isEmpty ? null : <ValueTable value={rest} label="Request" />}
    </section>
  );
}
