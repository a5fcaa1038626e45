// Value entry: a value for a graph, as a message if the graph has messages, as a form if its schema has fields, and
// always as JSON.
import { useMemo, useState, type ReactNode } from "react";
import { Button } from "../../ui/controls.tsx";
import { JsonEditor } from "../../json/editor.tsx";
import { buildExample, takesMessages } from "../../graph/graph-input.ts";
import type { JsonObject } from "../../json/json.ts";
import { parseJson } from "../../json/parse-json.ts";
import { isWhole, SchemaForm } from "../../json/schema-form.tsx";
import { findFaults, toField, buildInitial } from "../../json/schema.ts";
import type { Entry } from "./try-body.ts";

const NAMES = { message: "Message", form: "Form", json: "JSON" } as const;
type Way = keyof typeof NAMES;

export function ValueEntry({
  title,
  schema,
  value: entry,
  onChange,
}: {
  readonly title: string;
  readonly schema: JsonObject;
  readonly value: Entry;
  readonly onChange: (entry: Entry) => void;
}): ReactNode {
  const field = useMemo(() => toField(schema), [schema]);
  const ways: readonly Way[] = [
    ...(takesMessages(schema) ? (["message"] as const) : []),
    ...(field.fields.length > 0 ? (["form"] as const) : []),
    "json",
  ];
  const [way, setWay] = useState<Way>(ways[0] ?? "json");
  const [example] = useState(() => JSON.stringify(buildExample(schema), null, 2));
  const switchTo = (next: Way): void => {
    setWay(next);
    if (next === "message") onChange({ kind: "message", text: "" });
    if (next === "json") onChange({ kind: "json", text: example });
    if (next === "form") onChange({ kind: "none" });
  };
  const formValue = entry.kind === "form" ? entry.value : buildInitial(field);
  return (
    <>
      <div className="row">
        <h3>{title}</h3>
        {ways.length < 2 ? null : (
          <div className="row spread" role="group" aria-label={`${title} as`}>
            {ways.map((one) => (
              <Button key={one} pressed={one === way} onClick={() => switchTo(one)}>
                {NAMES[one]}
              </Button>
            ))}
          </div>
        )}
      </div>
      {way === "message" ? (
        <textarea
          aria-label="Message"
          placeholder="Write a message"
          value={entry.kind === "message" ? entry.text : ""}
          onChange={(event) => onChange({ kind: "message", text: event.target.value })}
        />
      ) : null}
      {way === "form" ? (
        <SchemaForm
          field={field}
          value={formValue}
          faults={entry.kind === "form" ? findFaults(field, formValue) : []}
          onChange={(value) =>
            onChange({
              kind: "form",
              value,
              isWhole: value !== undefined && isWhole(value) && findFaults(field, value).length === 0,
            })
          }
        />
      ) : null}
      {way === "json" ? (
        <>
          <JsonEditor initial={example} label={title} onChange={(text) => onChange({ kind: "json", text })} />
          {entry.kind === "json" && !parseJson(entry.text).ok ? <p className="field-error">Invalid JSON.</p> : null}
        </>
      ) : null}
    </>
  );
}
