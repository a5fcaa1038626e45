// Wrapping of built-in methods, for faults.ts.

/** Replaces a method by `around`, which gets the original. */
export function wrap<This extends object, Result>(
  prototype: This,
  name: string & keyof This,
  around: (self: This, parameters: readonly unknown[], original: () => Result) => Result,
): void {
  const method = Reflect.get(prototype, name) as (...parameters: unknown[]) => Result;
  const wrapped = function (this: This, ...parameters: unknown[]): Result {
    return around(this, parameters, () => method.apply(this, parameters));
  };
  Reflect.set(prototype, name, wrapped);
}
