// Assistant select: a choice of one assistant; a named one also shows its graph.
import type { ReactNode } from "react";
import { useAssistants } from "./graph-names.ts";

export function AssistantSelect({
  label,
  value,
  onChange,
}: {
  /** Undefined inside a labelled field. */
  readonly label?: string;
  readonly value: string;
  readonly onChange: (assistantId: string) => void;
}): ReactNode {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {useAssistants().map((one) => (
        <option key={one.assistant_id} value={one.assistant_id}>
          {one.name === one.graph_id ? one.name : `${one.name} (${one.graph_id})`}
        </option>
      ))}
    </select>
  );
}
