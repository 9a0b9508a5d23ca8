/**
 * The check of the options of an object's methods, around the methods: a backend and a storage have the same mistakes
 * refused in the same words, whatever engine is behind them.
 */

/** How the options of one method are checked. */
export interface CheckedCall {
  /** The place of the options among the arguments. */
  readonly at: 0 | 1 | 2;
  /** True when the options may not be left out. */
  readonly isRequired: boolean;
  /** Returns the checked options. @throws INVALID_ARGUMENT */
  check(given: unknown, args: readonly unknown[]): unknown;
}

/** A method, for any arguments. */
type AnyMethod = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Replaces methods of an object itself by ones that check their options first. For a class it is given the prototype.
 * A method whose name ends in `Sync` throws; any other one returns a promise, which is rejected.
 */
export function checkMethods(target: object, calls: Readonly<Record<string, CheckedCall>>): void {
  const methods = target as Record<string, unknown>;
  for (const [name, call] of Object.entries(calls)) {
    const method = Object.hasOwn(target, name) ? methods[name] : undefined;
    if (typeof method !== "function") continue;
    const value = checked(method as AnyMethod, call, name.endsWith("Sync"));
    Object.defineProperty(target, name, { ...Object.getOwnPropertyDescriptor(target, name), value });
  }
}

function checked(method: AnyMethod, { at, isRequired, check }: CheckedCall, isSync: boolean): AnyMethod {
  return function checkedMethod(...args) {
    if (args[at] === undefined && !isRequired) return method.apply(this, args);
    try {
      args[at] = check(args[at], args);
    } catch (error) {
      if (isSync) throw error;
      return Promise.reject(error);
    }
    return method.apply(this, args);
  };
}
