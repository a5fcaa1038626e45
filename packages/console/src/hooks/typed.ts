// Typed: the text of a filter field. The field follows each key at once; the address, and with it the search, a moment
// after the last one.
import { useEffect, useRef, useState } from "react";

const SEARCH_AFTER_MS = 200;

/** @param value of the address @param onChange called without a key for a moment */
export function useTyped(
  value: string,
  onChange: (value: string) => void,
): readonly [typed: string, type: (text: string) => void] {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return; // the own change: the field may have newer keys
    sent.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = typed;
      onChange(typed);
    }, SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  });
  return [typed, setTyped];
}
