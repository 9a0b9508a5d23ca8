/** Returns an object with the members of another one that have a value. */
export function withoutUndefined<T extends Readonly<Record<string, unknown>>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
