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

function objectCheck(schema: HostSchema, mode: CheckMode, owner?: string): ValueCheck {
  const { properties = {}, required: needed = [] } = schema;
  const names = Object.keys(properties);
  const known = new Set(names);
  const checks = names.map((name) => compileSchema(properties[name] as HostSchema, mode));
  const defaults = names.map((name) => properties[name]?.default);
  // Without coercion null is an ordinary value, and refused when the option does not allow it.
  const nullable = names.map((name) => !mode.coerce || typesOfSchema(properties[name]).includes("null"));
  const required = names.map((name) => needed.includes(name));
  return (given) => {
    const value = fromJsonText(given, "{", mode);
    if (value instanceof ValueProblem) return value;
    if (!isObjectWithKeys(value)) {
      const wanted = mode.coerce ? "an object" : (schema.noun ?? "an object");
      return new ValueProblem(`must be ${wanted}, got ${kindOfValue(value)}`);
    }
    if (!mode.coerce && !isPlainObject(value))
      return new ValueProblem("must be a plain object, got one of a class or with inherited keys");
    const result: Record<string, unknown> = {};
    const unknown = (mode.coerce ? Object.keys(value) : Reflect.ownKeys(value)).filter(
      (key) => !known.has(key as string),
    );
    if (unknown[0] !== undefined) {
      const first = unknownKeyProblem(unknown[0], names, schema, mode, owner);
      return unknown.length === 1 ? first : withOtherUnknownKeys(first, unknown.slice(1), names, mode);
    }
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const own = Object.hasOwn(value, name) ? value[name] : undefined;
      if (own === undefined || (own === null && nullable[index] !== true)) {
        if (required[index] === true) return new ValueProblem("is required", name);
        if (defaults[index] !== undefined) result[name] = defaults[index];
        continue;
      }
      const checked = (checks[index] as ValueCheck)(own);
      if (checked instanceof ValueProblem) return checked.under(name);
      result[name] = checked;
    }
    return testMember(schema, result);
  };
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
    return testMember(schema, result);
  };
}

/**
 * Checks an object with methods and returns it unchanged. Further members are allowed, except that an object
 * literal may not have a name that is nearly a known one.
 */
function instanceCheck(schema: HostSchema, mode: CheckMode): ValueCheck {
  const { properties = {}, required = [], noun = "an object" } = schema;
  const names = Object.keys(properties);
  const checks = names.map((name) => compileSchema(properties[name] as HostSchema, mode));
  return (value) => {
    if (!isObjectWithKeys(value)) return new ValueProblem(`must be ${noun}, got ${kindOfValue(value)}`);
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const member = value[name];
      if (member === undefined) {
        if (required.includes(name)) return new ValueProblem(`must be ${noun}, and lacks '${name}'`);
        continue;
      }
      const checked = (checks[index] as ValueCheck)(member);
      if (checked instanceof ValueProblem) return checked.under(name);
    }
    if (isPlainObject(value))
      for (const key of Object.keys(value)) {
        if (names.includes(key)) continue;
        const close = nearest(key, names);
        if (schema.closed === true || (close !== undefined && value[close] === undefined))
          return unknownKeyProblem(key, names, schema, mode, undefined);
      }
    return testMember(schema, value);
  };
}

/** Returns true for an object literal, also of another realm: it inherits only from Object. */
function isPlainObject(value: object): boolean {
  const parent: unknown = Object.getPrototypeOf(value);
  return (
    parent === null || (Object.getPrototypeOf(parent) === null && Object.hasOwn(parent as object, "valueOf"))
  );
}

/** Returns a value, or the problem that the `test` of its schema finds. */
function testMember(schema: HostSchema, value: unknown): unknown {
  const wrong = schema.test?.(value as never);
  return wrong === undefined ? value : new ValueProblem(wrong);
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
  const checks = types.map((type) => checkOfType(type, schema, mode, owner));
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
        if (typeof value === "boolean") return testMember(schema, value);
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
    const value = fromJsonText(given, "{", mode);
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
    return testMember(schema, value);
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
  const min = schema.minItems ?? 0;
  const max = schema.maxItems ?? Infinity;
  return (given) => {
    const parsed = fromJsonText(given, "[", mode);
    if (parsed instanceof ValueProblem) return parsed;
    // One object instead of a list of objects is treated as a list of one.
    const isOne =
      mode.coerce && isObjectWithKeys(parsed) && schema.items !== undefined && isObjectSchema(schema.items);
    const value = isOne ? [parsed] : parsed;
    if (!Array.isArray(value)) return new ValueProblem(`must be a list, got ${kindOfValue(value)}`);
    if (value.length < min)
      return new ValueProblem(min === 1 ? "must not be empty" : `must have at least ${min} items`);
    if (value.length > max) return new ValueProblem(`must have at most ${max} items, got ${value.length}`);
    if (item === undefined) return value;
    const result: unknown[] = new Array(value.length);
    for (let index = 0; index < value.length; index++) {
      const checked = item(value[index]);
      if (checked instanceof ValueProblem) return checked.under(index);
      result[index] = checked;
    }
    return testMember(schema, result);
  };
}

function isObjectSchema(schema: HostSchema): boolean {
  const types = typesOfSchema(schema);
  return types.length === 1 && types[0] === "object";
}

/** Returns the object or the list that a model sent as its JSON text; any other value unchanged. */
function fromJsonText(given: unknown, begins: "[" | "{", { coerce }: CheckMode): unknown {
  if (!coerce || typeof given !== "string") return given;
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
