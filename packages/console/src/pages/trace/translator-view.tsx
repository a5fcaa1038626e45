// Translator view: the run fields of a span with their source attributes, and the destination of each attribute.
import type { ReactNode } from "react";
import type { SpanDetail } from "@holdpoint/api/traces/traces.ts";
import { JsonView } from "../../json/json-view.tsx";
import { glance } from "../../json/excerpt.ts";
import { type Destination, describeTranslation } from "./translation.ts";

export function Translated({ span }: { readonly span: SpanDetail }): ReactNode {
  const { fromSpan, lines, kept, copied, destinations } = describeTranslation(span);
  const keptNames = Object.keys(kept);
  return (
    <div className="stack">
      <p className="muted span-words">
        {fromSpan
          ? "The collector created this run from an OpenTelemetry span. Each field uses the first source that the span has."
          : "An SDK sent this run directly: the collector translated nothing. For comparison, the source of each field."}
      </p>
      <table className="translation">
        <caption className="visually-hidden">Run fields and their source attributes</caption>
        <thead>
          <tr>
            <th scope="col">Run field</th>
            <th scope="col">Source attributes, in order of precedence</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ field, value, sources }) => (
            <tr key={field}>
              <th scope="row">
                <code>{field}</code>
              </th>
              <td>
                {sources.map((source, at) => (
                  <code key={source} className={at === 0 ? "" : "muted"}>
                    {source}
                  </code>
                ))}
              </td>
              <td>
                <code>{glance(value, 140)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {destinations.length === 0 ? null : <Destinations list={destinations} />}
      {copied.length === 0 ? null : (
        <section className="span-side">
          <h3>Copied under their own names</h3>
          <p className="row span-names">
            {copied.map((name) => (
              <code key={name}>{name}</code>
            ))}
          </p>
        </section>
      )}
      {keptNames.length === 0 ? null : (
        <section className="span-side">
          <h3>Unmapped attributes, kept unchanged</h3>
          <JsonView value={kept} label="unmapped attributes" />
        </section>
      )}
    </div>
  );
}

function Destinations({ list }: { readonly list: readonly Destination[] }): ReactNode {
  return (
    <table className="translation">
      <caption className="visually-hidden">Attributes of the span and the run fields that use them</caption>
      <thead>
        <tr>
          <th scope="col">Attribute</th>
          <th scope="col">Run fields</th>
        </tr>
      </thead>
      <tbody>
        {list.map(({ attribute, fields }) => (
          <tr key={attribute}>
            <th scope="row">
              <code>{attribute}</code>
            </th>
            <td>
              {fields.map((field) => (
                <code key={field}>{field}</code>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
