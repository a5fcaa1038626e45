// List filters: the filter bar of a list page. Filters are members of the URL; an empty text stands for none.
import type { ReactNode, RefObject } from "react";
import { useTyped } from "../hooks/typed.ts";
import { Button } from "../ui/controls.tsx";

/** @param onClear null without active filters */
export function ListFilters({
  onClear,
  children,
}: {
  readonly onClear: (() => void) | null;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <search className="filter-bar" aria-label="Filters">
      {children}
      {onClear === null ? null : (
        <Button kind="quiet" icon="cross" onClick={onClear}>
          Clear
        </Button>
      )}
    </search>
  );
}

interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

export function TextFilter({
  label,
  value,
  placeholder = label.toLowerCase(),
  onChange,
}: FilterProps & { readonly placeholder?: string }): ReactNode {
  const [typed, type] = useTyped(value ?? "", onChange);
  return (
    <input aria-label={label} placeholder={placeholder} value={typed} onChange={(event) => type(event.target.value)} />
  );
}

/** The field that the key `/` focuses. */
export function SearchFilter({
  field,
  label,
  value,
  placeholder = label,
  title,
  onChange,
}: FilterProps & {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly placeholder?: string;
  readonly title?: string;
}): ReactNode {
  const [typed, type] = useTyped(value ?? "", onChange);
  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      title={title}
      placeholder={placeholder}
      value={typed}
      onChange={(event) => type(event.target.value)}
    />
  );
}

/** @param any the option that stands for no filter */
export function ChoiceFilter({
  label,
  any,
  value,
  options,
  onChange,
}: FilterProps & {
  readonly any: string;
  readonly options: readonly (string | readonly [value: string, label: string])[];
}): ReactNode {
  return (
    <select aria-label={label} value={value ?? ""} onChange={(event) => onChange(event.target.value)}>
      <option value="">{any}</option>
      {options.map((option) => {
        const [own, shown] = typeof option === "string" ? [option, option] : option;
        return (
          <option key={own} value={own}>
            {shown}
          </option>
        );
      })}
    </select>
  );
}
