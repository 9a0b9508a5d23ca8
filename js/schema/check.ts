/**
 * Checks values against schemas, which are compiled to functions.
 *
 * Arguments of tools come from models: integers, numbers and booleans as strings, `null` for a
 * missing argument, and a list written as its JSON text are accepted (`coerce`). Options come from
 * programs, whose mistakes are errors. An unknown key is refused in both.
 */
import { escapeControls } from "../engine/escape.ts";
import type { HostSchema, HostType, ObjectSchema, Schema } from "./json-schema.ts";
import { BrokenJsonText, parseJsonText } from "./json-text.ts";
import { nearest } from "./nearest.ts";
import { type CheckMode, ValueProblem, unknownKeyProblem, withOtherUnknownKeys } from "./problem.ts";

/** Arguments that are not checked yet: an object with any keys. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Returns true for an object that is not a list. */
export function isObjectWithKeys(value: unknown): value is Arguments {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value to use, with defaults and converted parts, or a {@link ValueProblem}. */
export type ValueCheck = (value: unknown) => unknown;

/**
 * Compiles a schema to a function that checks a value and fills in defaults. Objects and lists of its result are
 * new.
 */
export function compileCheck(schema: HostSchema | ObjectSchema, mode: CheckMode): ValueCheck {
  return compileSchema(schema, mode, mode.owner);
}

/** A property of an object: how its value is checked, and what is done where it is missing. */
interface Member {
  readonly name: string;
  readonly check: ValueCheck;
  readonly default: unknown;
  readonly isRequired: boolean;
  readonly mayBeNull: boolean;
}

function membersOf({ properties = {}, required = [] }: HostSchema, mode: CheckMode): readonly Member[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    check: compileSchema(schema, mode),
    default: schema.default,
    isRequired: required.includes(name),
    // Without coercion null is an ordinary value, and refused when the option does not allow it.
    mayBeNull: !mode.coerce || typesOfSchema(schema).includes("null"),
  }));
}

function objectCheck(schema: HostSchema, mode: CheckMode, owner?: string): ValueCheck {
  const members = membersOf(schema, mode);
  const names = members.map(({ name }) => name);
  const known: ReadonlySet<unknown> = new Set(names);
  const keysOf = mode.coerce ? Object.keys : Reflect.ownKeys;
  const problemOfUnknown = (value: Arguments): ValueProblem => {
    const [first = "", ...others] = keysOf(value).filter((key) => !known.has(key));
    const problem = unknownKeyProblem(first, schema, mode, owner);
    return others.length === 0 ? problem : withOtherUnknownKeys(problem, others, names, mode);
  };
  return (given) => {
    const value = objectOf(given, schema, mode);
    if (value instanceof ValueProblem) return value;
    for (const key of keysOf(value)) if (!known.has(key)) return problemOfUnknown(value);
    return checkedMembers(value, members);
  };
}

/** Returns a value that is an object, or the object that a model sent as its JSON text. */
function objectOf(
  given: unknown,
  { noun = "an object" }: HostSchema,
  mode: CheckMode,
): ValueProblem | Arguments {
  const value = typeof given === "string" ? fromJsonText(given, "{", mode) : given;
  if (value instanceof ValueProblem) return value;
  const wanted = mode.coerce ? "an object" : noun;
  if (!isObjectWithKeys(value)) return new ValueProblem(`must be ${wanted}, got ${kindOfValue(value)}`);
  if (mode.coerce || isPlainObject(value)) return value;
  return new ValueProblem("must be a plain object, got one of a class or with inherited keys");
}

/** Returns a new object with the checked members of a value and the defaults of those that it lacks. */
function checkedMembers(value: Arguments, members: readonly Member[]): ValueProblem | Arguments {
  const result: Record<string, unknown> = {};
  for (const { name, check, default: fallback, isRequired, mayBeNull } of members) {
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    const isMissing = own === undefined || (own === null && !mayBeNull);
    if (isMissing && isRequired) return new ValueProblem("is required", name);
    const checked = isMissing ? fallback : check(own);
    if (checked instanceof ValueProblem) return checked.under(name);
    if (!isMissing || fallback !== undefined) result[name] = checked;
  }
  return result;
}

/** Checks an object with any keys, of which each value fits `schema.values`. */
function mapCheck(schema: HostSchema, mode: CheckMode): ValueCheck {
  const check = compileSchema(schema.values as HostSchema, mode);
  return (value) => {
    if (!isObjectWithKeys(value) || !isPlainObject(value))
      return new ValueProblem(`must be a plain object, got ${kindOfValue(value)}`);
    const result: Record<string, unknown> = {};
    for (const [key, own] of Object.entries(value)) {
      const checked = check(own);
      if (checked instanceof ValueProblem) return checked.under(key);
      // A key such as `__proto__` stays an ordinary key.
      Object.defineProperty(result, key, { value: checked, enumerable: true });
    }
    return result;
  };
}

/**
 * Checks an object with methods and returns it unchanged. Further members are allowed, except that an object
 * literal may not have a name that is nearly a known one.
 */
function instanceCheck(schema: HostSchema, mode: CheckMode): ValueCheck {
  const { noun = "an object" } = schema;
  const members = membersOf(schema, mode);
  return (value) => {
    if (!isObjectWithKeys(value)) return new ValueProblem(`must be ${noun}, got ${kindOfValue(value)}`);
    const problem = problemOfMembers(value, members, noun);
    if (problem !== undefined) return problem;
    const stray = isPlainObject(value) ? strayKeyOf(value, schema) : undefined;
    return stray === undefined ? value : unknownKeyProblem(stray, schema, mode, undefined);
  };
}

/** Returns the problem of the first invalid or missing member; undefined for none. */
function problemOfMembers(
  value: Arguments,
  members: readonly Member[],
  noun: string,
): ValueProblem | undefined {
  for (const { name, check, isRequired } of members) {
    const member = value[name];
    if (member === undefined && isRequired) return new ValueProblem(`must be ${noun}, and lacks '${name}'`);
    const checked = member === undefined ? undefined : check(member);
    if (checked instanceof ValueProblem) return checked.under(name);
  }
  return undefined;
}

/** Returns a key of an object literal that is no member and may not be there; undefined for none. */
function strayKeyOf(value: Arguments, { properties = {}, closed }: HostSchema): string | undefined {
  const names = Object.keys(properties);
  return Object.keys(value).find((key) => {
    if (names.includes(key)) return false;
    const close = nearest(key, names);
    return closed === true || (close !== undefined && value[close] === undefined);
  });
}

/** Returns true for an object literal, also of another realm: it inherits only from Object. */
function isPlainObject(value: object): boolean {
  const parent: unknown = Object.getPrototypeOf(value);
  return (
    parent === null || (Object.getPrototypeOf(parent) === null && Object.hasOwn(parent as object, "valueOf"))
  );
}

/** Adds the `test` of a schema to a check; the check itself where there is none. */
function tested({ test }: HostSchema, check: ValueCheck): ValueCheck {
  if (test === undefined) return check;
  return (value) => {
    const result = check(value);
    const wrong = result instanceof ValueProblem ? undefined : test(result as never);
    return wrong === undefined ? result : new ValueProblem(wrong);
  };
}

/** Returns the types of a schema as a list. */
function typesOfSchema(schema: HostSchema | Schema | undefined): readonly HostType[] {
  if (schema === undefined) return [];
  return typeof schema.type === "string" ? [schema.type] : schema.type;
}

/** Compiles a schema to a function. `owner` is the name to which its keys belong, for messages. */
function compileSchema(schema: HostSchema, mode: CheckMode, owner?: string): ValueCheck {
  if (schema.anyOf !== undefined) return anyOfCheck(schema.anyOf, mode);
  const types = typesOfSchema(schema);
  const checks = types.map((type) => tested(schema, checkOfType(type, schema, mode, owner)));
  const first = checks[0] as ValueCheck;
  const base: ValueCheck =
    checks.length === 1
      ? first
      : (value) => {
          // The first type that matches without coercion wins.
          const exact = types.findIndex((type) => isOfType(type, value));
          if (exact >= 0) return (checks[exact] as ValueCheck)(value);
          if (mode.coerce)
            for (const check of checks) {
              const result = check(value);
              if (!(result instanceof ValueProblem)) return result;
            }
          return new ValueProblem(`must be ${types.map(nounOfType).join(" or ")}, got ${kindOfValue(value)}`);
        };
  const allowed = schema.enum;
  if (allowed === undefined) return base;
  const list = allowed.map((value) => JSON.stringify(value)).join(", ");
  return (value) => {
    const result = base(value);
    if (result instanceof ValueProblem || allowed.includes(result as string)) return result;
    const close =
      typeof result === "string"
        ? nearest(
            result,
            allowed.filter((v): v is string => typeof v === "string"),
          )
        : undefined;
    return new ValueProblem(
      `must be one of ${list}, got ${showValue(value)}${close === undefined ? "" : ` (did you mean ${JSON.stringify(close)}?)`}`,
    );
  };
}

/** Checks a value against several schemas. If none fits, the problem is that of the schema whose type fits. */
function anyOfCheck(schemas: readonly HostSchema[], mode: CheckMode): ValueCheck {
  // Null is looked at first and by itself: for every other value its check would only make a problem.
  const mayBeNull = schemas.some(({ type }) => type === "null");
  const others = schemas.filter(({ type }) => type !== "null");
  const checks = others.map((schema) => compileSchema(schema, mode));
  const nouns = [...new Set(schemas.map(nounOfSchema))].join(" or ");
  return (value) => {
    if (mayBeNull && value === null) return null;
    let near: ValueProblem | undefined;
    for (const [index, check] of checks.entries()) {
      const result = check(value);
      if (!(result instanceof ValueProblem)) return result;
      if (typesOfSchema(others[index]).some((type) => isOfType(type, value)))
        near = nearerProblem(near, result);
    }
    return near ?? new ValueProblem(`must be ${nouns}, got ${showValue(value)}`);
  };
}

/** Returns the more specific one of two problems: one of a member is more specific than one of the whole. */
function nearerProblem(known: ValueProblem | undefined, found: ValueProblem): ValueProblem {
  return known === undefined || (known.where.length === 0 && found.where.length > 0) ? found : known;
}

function nounOfSchema(schema: HostSchema): string {
  if (schema.noun !== undefined) return schema.noun;
  if (schema.enum !== undefined) return `one of ${schema.enum.map((v) => JSON.stringify(v)).join(", ")}`;
  return typesOfSchema(schema).map(nounOfType).join(" or ");
}

/** Returns true when a value has a type without conversion. */
function isOfType(type: HostType, value: unknown): boolean {
  switch (type) {
    case "any":
      return true;
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "object":
    case "instance":
      return isObjectWithKeys(value);
    default:
      return typeof value === type;
  }
}

function checkOfType(type: HostType, schema: HostSchema, mode: CheckMode, owner?: string): ValueCheck {
  switch (type) {
    case "any":
      return (value) => value;
    case "function":
      return (value) =>
        typeof value === "function"
          ? value
          : new ValueProblem(`must be ${schema.noun ?? "a function"}, got ${kindOfValue(value)}`);
    case "instance":
      return instanceCheck(schema, mode);
    case "string":
      return stringCheck(schema, mode);
    case "integer":
    case "number":
      return numberCheck(type, schema, mode);
    case "boolean":
      return (value) => {
        if (typeof value === "boolean") return value;
        if (mode.coerce && (value === "true" || value === "True")) return true;
        if (mode.coerce && (value === "false" || value === "False")) return false;
        return new ValueProblem(`must be true or false, got ${showValue(value)}`);
      };
    case "null":
      return (value) => (value === null ? null : new ValueProblem("must be null"));
    case "array":
      return arrayCheck(schema, mode);
    case "object":
      if (schema.values !== undefined) return mapCheck(schema, mode);
      return schema.properties === undefined ? freeObjectCheck(mode) : objectCheck(schema, mode, owner);
  }
}

/** Checks that a value is an object. Its consumer checks the content. */
function freeObjectCheck(mode: CheckMode): ValueCheck {
  return (given) => {
    const value = typeof given === "string" ? fromJsonText(given, "{", mode) : given;
    if (value instanceof ValueProblem) return value;
    return isObjectWithKeys(value) ? value : new ValueProblem(`must be an object, got ${kindOfValue(value)}`);
  };
}

function stringCheck(schema: HostSchema, { coerce, forms }: CheckMode): ValueCheck {
  const noun = schema.pattern === undefined ? undefined : forms?.get(schema.pattern);
  const min = schema.minLength ?? 0;
  const form = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, "u");
  return (value) => {
    if (typeof value !== "string") {
      const asJson = coerce && isObjectWithKeys(value) ? "; send an object as its JSON text" : "";
      return new ValueProblem(`must be ${noun ?? "a string"}, got ${kindOfValue(value)}${asJson}`);
    }
    if (value.length < min) return new ValueProblem("must not be empty");
    if (form !== undefined && !form.test(value))
      return new ValueProblem(
        noun === undefined
          ? `has the wrong form (${schema.pattern}), got ${showValue(value)}`
          : `must be ${noun}, got ${showValue(value)}`,
      );
    return value;
  };
}

function numberCheck(type: "integer" | "number", schema: HostSchema, { coerce }: CheckMode): ValueCheck {
  const whole = type === "integer";
  const low = schema.minimum ?? -Infinity;
  const high = schema.maximum ?? Infinity;
  const range =
    low === -Infinity && high === Infinity
      ? ""
      : high === Infinity
        ? ` of at least ${low}`
        : low === -Infinity
          ? ` of at most ${high}`
          : ` from ${low} to ${high}`;
  const wanted = `must be ${whole ? "an integer" : "a number"}${range}`;
  return (given) => {
    let value = given;
    if (coerce && typeof value === "string" && /^\s*[+-]?\d+(\.\d+)?\s*$/u.test(value)) value = Number(value);
    const fits =
      typeof value === "number" &&
      (whole ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
      value >= low &&
      value <= high;
    return fits ? value : new ValueProblem(`${wanted}, got ${showValue(given)}`);
  };
}

function arrayCheck(schema: HostSchema, mode: CheckMode): ValueCheck {
  const item = schema.items === undefined ? undefined : compileSchema(schema.items, mode);
  const isOfObjects = mode.coerce && schema.items !== undefined && isObjectSchema(schema.items);
  return (given) => {
    const parsed = typeof given === "string" ? fromJsonText(given, "[", mode) : given;
    if (parsed instanceof ValueProblem) return parsed;
    // One object instead of a list of objects is treated as a list of one.
    const value = isOfObjects && isObjectWithKeys(parsed) ? [parsed] : parsed;
    if (!Array.isArray(value)) return new ValueProblem(`must be a list, got ${kindOfValue(value)}`);
    const wrong = problemOfLength(value.length, schema);
    if (wrong !== undefined || item === undefined) return wrong ?? value;
    return checkedItems(value, item);
  };
}

function problemOfLength(
  length: number,
  { minItems: min = 0, maxItems: max = Infinity }: HostSchema,
): ValueProblem | undefined {
  if (length < min)
    return new ValueProblem(min === 1 ? "must not be empty" : `must have at least ${min} items`);
  return length > max ? new ValueProblem(`must have at most ${max} items, got ${length}`) : undefined;
}

/** Returns a new list of the checked items. */
function checkedItems(value: readonly unknown[], item: ValueCheck): ValueProblem | readonly unknown[] {
  const result: unknown[] = new Array(value.length);
  for (let index = 0; index < value.length; index++) {
    const checked = item(value[index]);
    if (checked instanceof ValueProblem) return checked.under(index);
    result[index] = checked;
  }
  return result;
}

function isObjectSchema(schema: HostSchema): boolean {
  const types = typesOfSchema(schema);
  return types.length === 1 && types[0] === "object";
}

/** Returns the object or the list that a model sent as its JSON text; the text itself where it is not converted. */
function fromJsonText(given: string, begins: "[" | "{", { coerce }: CheckMode): unknown {
  if (!coerce) return given;
  const value = parseJsonText(given, begins);
  const noun = begins === "[" ? "a list" : "an object";
  return value instanceof BrokenJsonText ? new ValueProblem(`must be ${noun}; ${value.why}`) : value;
}

function nounOfType(type: HostType): string {
  return type === "array"
    ? "a list"
    : type === "integer" || type === "object"
      ? `an ${type}`
      : type === "instance"
        ? "an object"
        : type === "null"
          ? "null"
          : `a ${type}`;
}

/** Returns what kind of value it is, such as `a list`, for a message. */
export function kindOfValue(value: unknown): string {
  return value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "undefined"
        ? "nothing"
        : typeof value === "object"
          ? "an object"
          : `a ${typeof value}`;
}

/** Returns an invalid value for a message: escaped, and at most 40 UTF-16 units of it. */
function showValue(value: unknown): string {
  if (typeof value === "object" && value !== null) return kindOfValue(value);
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return escapeControls(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
