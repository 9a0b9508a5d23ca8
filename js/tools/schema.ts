/**
 * JSON Schema, the part of it that tool arguments need, compiled to functions.
 *
 * One schema serves models (as `inputSchema`) and the pipeline (through
 * {@link compile}), so what is documented is what is enforced. Compiling happens
 * once, when a tool's module loads; a check allocates one object for the call.
 *
 * What is forgiven because models get it wrong without meaning anything else:
 * integers, numbers and booleans as strings, `null` for an argument left out,
 * and a list written as the JSON text of a list. What is not: unknown arguments.
 */
import { FilewrightError } from "../engine/errors.ts";
import { meantBy } from "./elsewhere.ts";
import { nearest } from "./nearest.ts";
import type { ObjectSchema, Schema, SchemaType } from "./json_schema.ts";
import { escapeControls } from "./text.ts";

export { type ObjectSchema, object, type Schema, type SchemaType } from "./json_schema.ts";

/** Arguments as they are passed around: a plain object, not checked yet. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Whether a value is an object with keys. */
export function isPlain(value: unknown): value is Arguments {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Why a value does not fit, and where inside the arguments. */
class Problem {
  readonly what: string;
  readonly where: (string | number)[];

  constructor(what: string, ...where: string[]) {
    this.what = what;
    this.where = where;
  }

  under(key: string | number): this {
    this.where.unshift(key);
    return this;
  }

  /** Such as `edits[0].old_text`; empty for the arguments as a whole. */
  place(): string {
    return this.where
      .map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`))
      .join("");
  }
}

/** Gives the value to use, or a {@link Problem}. */
type Check = (value: unknown) => unknown;

/**
 * Makes the function that checks arguments against a schema, fills in defaults
 * and coerces what is forgiven. The function gives a fresh object.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the argument
 */
export function compile<T>(tool: string, schema: ObjectSchema): (args: Arguments) => T {
  const check = objectCheck(schema, tool);
  return (args) => {
    const result = check(args);
    if (!(result instanceof Problem)) return result as T;
    const argument = result.place();
    const stop = /[.?!]$/u.test(result.what) ? "" : ".";
    const named = argument === "" ? "" : `Invalid argument '${argument}': `;
    throw new FilewrightError("INVALID_ARGUMENT", `${named}${result.what}${stop}`, {
      complete: true,
      details: argument === "" ? { tool } : { tool, argument },
    });
  };
}

function objectCheck(schema: ObjectSchema, tool?: string): Check {
  const names = Object.keys(schema.properties);
  const known = new Set(names);
  const checks = names.map((name) => checkOf(schema.properties[name] as Schema));
  const defaults = names.map((name) => (schema.properties[name] as Schema).default);
  const nullable = names.map((name) => typesOf(schema.properties[name] as Schema).includes("null"));
  const required = names.map((name) => schema.required.includes(name));
  return (given) => {
    const value = typeof given === "string" ? fromJson(given, "{") : given;
    if (!isPlain(value)) return new Problem(`must be an object, got ${kindOf(value)}`);
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(value)) if (!known.has(key)) return unknownKey(key, names, tool);
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const own = Object.hasOwn(value, name) ? value[name] : undefined;
      if (own === undefined || (own === null && nullable[index] !== true)) {
        if (required[index] === true) return new Problem("is required", name);
        if (defaults[index] !== undefined) result[name] = defaults[index];
        continue;
      }
      const checked = (checks[index] as Check)(own);
      if (checked instanceof Problem) return checked.under(name);
      result[name] = checked;
    }
    return result;
  };
}

function unknownKey(key: string, names: readonly string[], tool: string | undefined): Problem {
  const shown = escapeControls(key.length > 60 ? `${key.slice(0, 60)}…` : key);
  const meant = meantBy(key, names);
  const remedy =
    meant !== undefined
      ? `did you mean '${meant}'?`
      : names.length === 0
        ? "it takes no arguments"
        : `known: ${names.join(", ")}`;
  const whose = tool === undefined ? "unknown property" : `unknown argument of ${tool}`;
  return new Problem(`${whose}; ${remedy}`, shown);
}

function typesOf(schema: Schema): readonly SchemaType[] {
  return typeof schema.type === "string" ? [schema.type] : schema.type;
}

function checkOf(schema: Schema): Check {
  const types = typesOf(schema);
  const checks = types.map((type) => checkOfType(type, schema));
  const first = checks[0] as Check;
  const base: Check =
    checks.length === 1
      ? first
      : (value) => {
          // The first type that fits as it is wins; coercion only where none does.
          const exact = types.findIndex((type) => isExactly(type, value));
          if (exact >= 0) return (checks[exact] as Check)(value);
          for (const check of checks) {
            const result = check(value);
            if (!(result instanceof Problem)) return result;
          }
          return new Problem(`must be ${types.map(nameOf).join(" or ")}, got ${kindOf(value)}`);
        };
  const allowed = schema.enum;
  if (allowed === undefined) return base;
  const list = allowed.map((value) => JSON.stringify(value)).join(", ");
  return (value) => {
    const result = base(value);
    if (result instanceof Problem || allowed.includes(result as string)) return result;
    const close =
      typeof result === "string"
        ? nearest(
            result,
            allowed.filter((v): v is string => typeof v === "string"),
          )
        : undefined;
    return new Problem(
      `must be one of ${list}, got ${show(value)}${close === undefined ? "" : ` (did you mean ${JSON.stringify(close)}?)`}`,
    );
  };
}

function isExactly(type: SchemaType, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function checkOfType(type: SchemaType, schema: Schema): Check {
  switch (type) {
    case "string":
      return stringCheck(schema);
    case "integer":
    case "number":
      return numberCheck(type, schema);
    case "boolean":
      return (value) => {
        if (typeof value === "boolean") return value;
        if (value === "true" || value === "True") return true;
        if (value === "false" || value === "False") return false;
        return new Problem(`must be true or false, got ${show(value)}`);
      };
    case "null":
      return (value) => (value === null ? null : new Problem("must be null"));
    case "array":
      return arrayCheck(schema);
    case "object":
      return schema.properties === undefined ? freeObject : objectCheck(schema as ObjectSchema);
  }
}

/** An object of any form: what is in it is checked by whoever it is for. */
const freeObject: Check = (given) => {
  const value = typeof given === "string" ? fromJson(given, "{") : given;
  return isPlain(value) ? value : new Problem(`must be an object, got ${kindOf(value)}`);
};

function stringCheck(schema: Schema): Check {
  const min = schema.minLength ?? 0;
  const form = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, "u");
  return (value) => {
    if (typeof value !== "string") return new Problem(`must be a string, got ${kindOf(value)}`);
    if (value.length < min) return new Problem("must not be empty");
    if (form !== undefined && !form.test(value))
      return new Problem(`has the wrong form (${schema.pattern}), got ${show(value)}`);
    return value;
  };
}

function numberCheck(type: "integer" | "number", schema: Schema): Check {
  const whole = type === "integer";
  const low = schema.minimum ?? -Infinity;
  const high = schema.maximum ?? Infinity;
  const never = schema.not?.const;
  const range =
    low === -Infinity && high === Infinity
      ? ""
      : high === Infinity
        ? ` of at least ${low}`
        : low === -Infinity
          ? ` of at most ${high}`
          : ` from ${low} to ${high}`;
  const other = never === undefined ? "" : ` other than ${never}`;
  const wanted = `must be ${whole ? "an integer" : "a number"}${range}${other}`;
  return (given) => {
    let value = given;
    if (typeof value === "string" && /^\s*[+-]?\d+(\.\d+)?\s*$/u.test(value)) value = Number(value);
    const fits =
      typeof value === "number" &&
      (whole ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
      value >= low &&
      value <= high &&
      value !== never;
    return fits ? value : new Problem(`${wanted}, got ${show(given)}`);
  };
}

function arrayCheck(schema: Schema): Check {
  const item = schema.items === undefined ? undefined : checkOf(schema.items);
  const min = schema.minItems ?? 0;
  const max = schema.maxItems ?? Infinity;
  return (given) => {
    const value = typeof given === "string" ? fromJson(given, "[") : given;
    if (!Array.isArray(value)) return new Problem(`must be a list, got ${kindOf(value)}`);
    if (value.length < min)
      return new Problem(min === 1 ? "must not be empty" : `must have at least ${min} items`);
    if (value.length > max) return new Problem(`must have at most ${max} items, got ${value.length}`);
    if (item === undefined) return value;
    const result: unknown[] = new Array(value.length);
    for (let index = 0; index < value.length; index++) {
      const checked = item(value[index]);
      if (checked instanceof Problem) return checked.under(index);
      result[index] = checked;
    }
    return result;
  };
}

/** The value of JSON text that begins as wanted; the text itself where it is none. */
export function fromJson(text: string, begins: "[" | "{"): unknown {
  if (!text.trimStart().startsWith(begins)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function nameOf(type: SchemaType): string {
  return type === "array"
    ? "a list"
    : type === "integer" || type === "object"
      ? `an ${type}`
      : type === "null"
        ? "null"
        : `a ${type}`;
}

export function kindOf(value: unknown): string {
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

/** A short, safe rendering of a wrong value. */
function show(value: unknown): string {
  if (typeof value === "object" && value !== null) return kindOf(value);
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return escapeControls(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
