// What both editors of JSON are given.
export interface EditorProps {
  /** Only the first value counts; later ones come from typing. */
  readonly initial: string;
  readonly label: string;
  readonly onChange: (text: string) => void;
  readonly readOnly?: boolean;
  /** Any text instead of JSON. */
  readonly plain?: boolean;
}
