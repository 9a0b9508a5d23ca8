/**
 * The language in which options are described, and their check at run time.
 *
 * Every entry that takes options (`openWorkspace`, `sandboxFor`, an adapter, a
 * hook's answer …) has a table next to its interface:
 *
 *     export interface EditDefaults {
 *       /** How hard an edit looks for its place. Default `whitespace`. *\/
 *       readonly match: "exact" | "whitespace" | "fuzzy";
 *     }
 *     export const EDIT_OPTIONS: Options<EditDefaults> = options("EditDefaults", {
 *       match: required(choice("exact", "whitespace", "fuzzy")),
 *     });
 *
 * To add an option, add the member with its doc comment to the interface and a
 * row of the same name to the table. The compiler holds the two equal: a missing
 * row, a row too many, another type or another value does not compile. The check at run time,
 * the pages of `docs/reference/options.md` (`npm run options`) and the check
 * `npm run deep -- options` follow from the table.
 *
 * The check refuses what the table does not describe: an unknown key, a wrong type
 * or a value that is not in the list is INVALID_ARGUMENT, which names the option and
 * the nearest valid name. Nothing is converted.
 */
import { withoutUndefined } from "./without-undefined.ts";
import { FilewrightError } from "../engine/errors.ts";
import { type ValueCheck, compileCheck } from "./check.ts";
import { ValueProblem } from "./problem.ts";
import type { HostSchema } from "./json-schema.ts";
import { nearest } from "./nearest.ts";

/** The description of one option, for any type of values. */
interface DescribedOption {
  readonly schema: HostSchema;
  readonly required?: boolean;
}

/** The description of one option whose values have the type `T`. */
export interface Option<T> extends DescribedOption {
  /** Binds the type to exactly `T` for the compiler; never present at run time. */
  readonly holds?: (value: T) => T;
}

/** A required option. */
export interface RequiredOption<T> extends Option<T> {
  readonly required: true;
}

/** An optional option. */
export interface OptionalOption<T> extends Option<T> {
  readonly required?: false;
}

/** The rows of a table of options: one for each member of the interface `T`. */
export type Rows<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? OptionalOption<Exclude<T[K], undefined>>
    : RequiredOption<T[K]>;
};

/** The description of all options of one interface. */
export type Options<T> = OptionalOption<T>;

/** Returns a row for a required option. */
export function required<T>({ schema }: OptionalOption<T>): RequiredOption<T> {
  return { schema, required: true };
}

/**
 * Creates the table of one interface of options. `name` is that of the interface, by which the documentation finds
 * its comments.
 */
export function options<T extends object>(
  name: string,
  rows: Rows<NoInfer<T>>,
  more: {
    /** The valid option names by the names that other systems use. */
    readonly instead?: Readonly<Record<string, string>>;
    /** Returns what is wrong with a combination of valid options. */
    readonly test?: (value: T) => string | undefined;
    /** The description of the options in a message. Default `an object of options`. */
    readonly noun?: string;
  } = {},
): Options<T> {
  return {
    schema: { type: "object", ...memberSchemasOf(name, rows), noun: "an object of options", ...more },
  };
}

/**
 * Describes an object with methods that is used as it is, such as a backend. `rows` describes the members that are
 * checked.
 */
export function instance<T extends object>(
  name: string,
  noun: string,
  rows: Partial<Rows<NoInfer<T>>>,
  more: {
    /** True when an object literal may have no other members. */
    readonly closed?: boolean;
    readonly test?: (value: T) => string | undefined;
  } = {},
): OptionalOption<T> {
  return { schema: { type: "instance", noun, ...memberSchemasOf(name, rows), ...more } };
}

function memberSchemasOf(title: string, rows: object): Pick<HostSchema, "title" | "properties" | "required"> {
  const entries = Object.entries(rows) as readonly (readonly [string, DescribedOption])[];
  return {
    title,
    properties: Object.fromEntries(entries.map(([key, { schema }]) => [key, schema])),
    required: entries.filter((row) => row[1].required === true).map(([key]) => key),
  };
}

/** A text that is not empty. */
export function text(
  more: Pick<HostSchema, "pattern" | "noun"> & { readonly test?: (value: string) => string | undefined } = {},
): OptionalOption<string> {
  return { schema: { type: "string", minLength: 1, ...more } };
}

/** A text, which may be empty. */
export function anyText(): OptionalOption<string> {
  return { schema: { type: "string" } };
}

/** True or false. */
export function flag(): OptionalOption<boolean> {
  return { schema: { type: "boolean" } };
}

/** The boolean `value` and no other. */
export function exactly<const T extends boolean>(value: T): OptionalOption<T> {
  const test = (given: boolean): string | undefined => (given === value ? undefined : `must be ${value}`);
  return { schema: { type: "boolean", test } };
}

/** An integer of at least `minimum` and, if given, at most `maximum`. */
export function integer(minimum: number, maximum?: number): OptionalOption<number> {
  return { schema: withoutUndefined({ type: "integer", minimum, maximum }) };
}

/** One of the texts that are listed here. */
export function choice<const T extends readonly string[]>(...values: T): OptionalOption<T[number]> {
  return { schema: { type: "string", enum: values } };
}

/** One of the texts of a list that is defined elsewhere. */
export function choiceOf<T extends string>(values: readonly T[]): OptionalOption<T> {
  return { schema: { type: "string", enum: values } };
}

/** A list of values that fit `item`. */
export function list<T>(
  item: Option<T>,
  more: { readonly minItems?: number; readonly test?: (value: readonly T[]) => string | undefined } = {},
): OptionalOption<readonly T[]> {
  return { schema: { type: "array", items: item.schema, ...more } };
}

/** An object with any keys, whose values fit `value`. */
export function mapOf<T>(value: Option<T>): OptionalOption<Readonly<Record<string, T>>> {
  return { schema: { type: "object", values: value.schema } };
}

/** A function. */
// biome-ignore lint/suspicious/noExplicitAny: any function at all
export function callback<T extends (...args: any[]) => unknown>(): OptionalOption<T> {
  return { schema: { type: "function" } };
}

/** An object of the platform, such as a URL. `is` recognises it, also from another realm. */
export function builtIn<T extends object>(noun: string, is: (value: object) => boolean): OptionalOption<T> {
  const test = (value: object): string | undefined => (is(value) ? undefined : `must be ${noun}`);
  return { schema: { type: "instance", noun, test } };
}

/** A URL. */
export const urlOption: OptionalOption<URL> = builtIn("a URL", (value) => classNameOf(value) === "URL");

/** An abort signal. */
export const signalOption: OptionalOption<AbortSignal> = builtIn(
  "an AbortSignal",
  (value) => "aborted" in value && "addEventListener" in value,
);

/** A point in time. */
export const dateOption: OptionalOption<Date> = builtIn(
  "a Date",
  (value) => classNameOf(value) === "Date" && Number.isFinite((value as Date).getTime()),
);

/** Returns the class name of an object of the platform, also from another realm. */
function classNameOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Null, or a value that fits the given description. */
export function nullable<T>({ schema }: Option<T>): OptionalOption<T | null> {
  return { schema: { type: [], anyOf: [{ type: "null" }, schema] } };
}

/** A value that fits one of two descriptions. */
export function either<A, B>(a: Option<A>, b: Option<B>): OptionalOption<A | B> {
  const anyOf = [a.schema, b.schema].flatMap((schema) => schema.anyOf ?? [schema]);
  return { schema: { type: [], anyOf } };
}

/** A value of any type. Its consumer checks it. */
export function anything(): OptionalOption<unknown> {
  return { schema: { type: "any" } };
}

/**
 * Checks options and returns them as a new object. @throws FilewrightError INVALID_ARGUMENT naming
 * the first option that is invalid
 */
export type OptionCheck<T> = (given: unknown) => T;

/**
 * Creates the check of the options of one public function or class. `entry` is its name, such as
 * `openWorkspace`, with which each error message begins.
 *
 * @example
 * const checkOptions = optionChecker("sandboxFor", SANDBOX_OPTIONS);
 * const { tier = "fast" } = checkOptions(options); // sandboxFor: 'tier' must be one of "fast", "strict",
 * got "Fast" …
 */
export function optionChecker<T>(entry: string, { schema }: Option<T>): OptionCheck<T> {
  let check: ValueCheck | undefined;
  return (given) => {
    check ??= compileCheck(schema, { coerce: false });
    const result = check(given);
    if (result instanceof ValueProblem) throw wrongOptionError(entry, result.place(), result.what);
    return result as T;
  };
}

/**
 * Creates a function that returns a valid value, and undefined for an invalid one. It serves answers that are
 * refused without naming the mistake.
 */
export function optionReader<T>({ schema }: Option<T>): (given: unknown) => T | undefined {
  let check: ValueCheck | undefined;
  return (given) => {
    check ??= compileCheck(schema, { coerce: false });
    const result = check(given);
    return result instanceof ValueProblem ? undefined : (result as T);
  };
}

/**
 * Creates the error about an invalid option. `where` is its path, such as `rules[0].path`, or empty for the
 * options as a whole.
 */
export function wrongOptionError(entry: string, where: string, what: string): FilewrightError {
  const stop = /[.?!]$/u.test(what) ? "" : ".";
  const named = where === "" ? `the options ${what}` : `option '${where}': ${what}`;
  return new FilewrightError("INVALID_ARGUMENT", `${entry}: ${named}${stop}`, {
    complete: true,
    details: where === "" ? { entry } : { entry, option: where },
  });
}

/**
 * Refuses rules or hooks that name a tool which does not exist. `known` has the valid names besides `*`.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the nearest tool
 */
export function assertToolNames(
  entry: string,
  where: string,
  items: readonly { readonly tool?: string | undefined }[],
  known: ReadonlySet<string>,
): void {
  for (const [index, { tool }] of items.entries()) {
    if (tool === undefined || tool === "*" || known.has(tool)) continue;
    const close = nearest(tool, known);
    const remedy = close === undefined ? `known: *, ${[...known].join(", ")}` : `did you mean '${close}'?`;
    throw wrongOptionError(
      entry,
      `${where}[${index}].tool`,
      `there is no tool ${JSON.stringify(tool)}; ${remedy}`,
    );
  }
}

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
 * Replaces methods of an object, own and inherited ones, by own ones that check their options first. For a class it is
 * given the prototype.
 * A method whose name ends in `Sync` throws; any other one returns a promise, which is rejected.
 */
export function checkMethods(target: object, calls: Readonly<Record<string, CheckedCall>>): void {
  const methods = target as Record<string, unknown>;
  for (const [name, call] of Object.entries(calls)) {
    const method = methods[name];
    if (typeof method !== "function") continue;
    const value = checked(method as AnyMethod, call, name.endsWith("Sync"));
    const own = Object.getOwnPropertyDescriptor(target, name) ?? { writable: true, configurable: true };
    Object.defineProperty(target, name, { ...own, value });
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
