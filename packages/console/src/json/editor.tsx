// Editor: JSON as text, validated while typing. Loads the code editor on first use.
import { type ReactNode, Suspense, lazy, useEffect, useRef, useState } from "react";
import { Loading } from "../ui/controls.tsx";
import { LARGE_UNITS } from "./excerpt.ts";
import type { EditorProps } from "./editor-props.ts";

const CodeEditor = lazy(() => import("./code-editor.tsx"));

const AFTER_TYPING_MS = 300;

/** The JSON of a value. Of a large one, the parent learns the text when the typing pauses. */
export function ValueEditor({
  value,
  label,
  onChange,
}: {
  /** Only the first value counts. */
  readonly value: unknown;
  readonly label: string;
  readonly onChange: (text: string) => void;
}): ReactNode {
  const [initial] = useState(() => JSON.stringify(value, null, 2) ?? "");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  const change = (text: string): void => {
    clearTimeout(timer.current);
    if (initial.length <= LARGE_UNITS) return onChange(text);
    timer.current = setTimeout(() => latest.current(text), AFTER_TYPING_MS);
  };
  return <JsonEditor initial={initial} label={label} onChange={change} />;
}

export function JsonEditor(props: EditorProps): ReactNode {
  return (
    <Suspense fallback={<Loading label="Loading the editor" />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}
