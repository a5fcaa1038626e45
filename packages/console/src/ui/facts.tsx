// Facts: a list of names with their values.
import type { ReactNode } from "react";

export function Facts({ children }: { readonly children: ReactNode }): ReactNode {
  return <dl className="facts">{children}</dl>;
}

export function Fact({
  name,
  title,
  className,
  children,
}: {
  readonly name: string;
  readonly title?: string;
  /** The class of the value. */
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title} className={className}>
        {children}
      </dd>
    </div>
  );
}
