// Schemas: input, state and output of the graph, as fields and as JSON Schema.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { call } from "../../api/client.ts";
import type { Assistant, GraphSchemas } from "../../api/types.ts";
import { Failure, Loading } from "../../ui/controls.tsx";
import { CopyCurl } from "../../ui/copy.tsx";
import { JsonView } from "../../json/json-view.tsx";
import { isObject } from "../../json/json.ts";
import { toField, type FormField } from "../../json/schema.ts";

export function useSchemas(assistant: Assistant) {
  const { assistant_id: id, version } = assistant;
  return useQuery({
    queryKey: ["schemas", id, version],
    queryFn: ({ signal }) => call<GraphSchemas>("GET", `/assistants/${id}/schemas`, { signal }),
  });
}

const PARTS = [
  { member: "input_schema", title: "Input", about: "Input of a run." },
  { member: "state_schema", title: "State", about: "State of the graph during a run." },
  { member: "output_schema", title: "Output", about: "Output of a run." },
  { member: "context_schema", title: "Context", about: "Constant during a run." },
  { member: "config_schema", title: "Config", about: "Legacy configuration of a run." },
] as const;

export function SchemasTab({ assistant }: { readonly assistant: Assistant }): ReactNode {
  const schemas = useSchemas(assistant);
  if (schemas.isPending) return <Loading />;
  if (schemas.isError) return <Failure error={schemas.error} onRetry={() => void schemas.refetch()} />;
  return (
    <div className="page-body stack">
      <div>
        <CopyCurl method="GET" path={`/assistants/${assistant.assistant_id}/schemas`} />
      </div>
      {PARTS.map(({ member, title, about }) => (
        <section key={member} className="card state-card">
          <h3>
            {title}. {about}
          </h3>
          <Schema schema={schemas.data[member]} title={title} />
        </section>
      ))}
    </div>
  );
}

function Schema({ schema, title }: { readonly schema: unknown; readonly title: string }): ReactNode {
  if (!isObject(schema)) return <p className="muted">The graph does not declare one.</p>;
  const { fields } = toField(schema);
  return (
    <>
      {fields.length === 0 ? null : (
        <div className="table-scroller" role="region" aria-label={`${title}: fields`} tabIndex={0}>
          <table className="schema-table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Type</th>
                <th scope="col">Required</th>
                <th scope="col">Description</th>
              </tr>
            </thead>
            <tbody>
              {fields.map((field) => (
                <tr key={field.name}>
                  <th scope="row">
                    <code>{field.name}</code>
                  </th>
                  <td>{nameType(field)}</td>
                  <td>{field.required ? "yes" : "no"}</td>
                  <td>{field.description ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <JsonView
        value={schema}
        label={`the schema of the ${title.toLowerCase()}`}
        openLevels={fields.length === 0 ? 2 : 0}
      />
    </>
  );
}

function nameType({ schema, control, nullable, choices }: FormField): string {
  const declared = schema["type"];
  const type =
    schema["langgraph_type"] === "messages"
      ? "messages"
      : choices.length > 0
        ? choices.map((choice) => JSON.stringify(choice)).join(" or ")
        : typeof declared === "string"
          ? declared
          : control;
  return nullable ? `${type} or null` : type;
}
