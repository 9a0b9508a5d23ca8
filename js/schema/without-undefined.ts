/** The members of an object that have a value. */
type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Returns an object with the members of another one that have a value. */
export function withoutUndefined<T extends Readonly<Record<string, unknown>>>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
