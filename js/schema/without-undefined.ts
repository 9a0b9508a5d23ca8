/** The members of an object that have a value: those that may be undefined are optional. */
type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Returns an object with the members of a plain one that have a value. Each call makes some, so that it is fast. */
export function withoutUndefined<const T extends object>(values: T): Defined<T> {
  const defined: Partial<T> = {};
  for (const name in values) if (values[name] !== undefined) defined[name] = values[name];
  return defined as unknown as Defined<T>;
}
