// Editor: JSON as text, validated while typing. Loads the code editor on first use.
import { lazy, Suspense, type ReactNode } from "react";
import { Loading } from "../ui/controls.tsx";

export interface EditorProps {
  /** Only the first value counts; later ones come from typing. */
  readonly initial: string;
  readonly label: string;
  readonly onChange: (text: string) => void;
  readonly readOnly?: boolean;
}

const CodeEditor = lazy(() => import("./code-editor.tsx"));

export function JsonEditor(props: EditorProps): ReactNode {
  return (
    <Suspense fallback={<Loading label="Loading the editor" />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}
