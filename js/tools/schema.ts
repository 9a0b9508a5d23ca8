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
import { nearest } from "./nearest.ts";
import { escapeControls } from "./text.ts";

/** The JSON types used. */
export type SchemaType = "string" | "integer" | "number" | "boolean" | "array" | "object" | "null";

/** A schema in the subset that {@link compile} enforces. */
export interface Schema {
  readonly type: SchemaType | readonly SchemaType[];
  readonly description?: string;
  readonly enum?: readonly (string | number | null)[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly not?: { readonly const: number };
  readonly minLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

/** The schema of a tool's arguments or data. */
export interface ObjectSchema extends Schema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly additionalProperties: boolean;
}

/** A closed object schema. `required` names the properties without a default. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): ObjectSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Other spellings of an argument that are accepted silently: alias → canonical name. */
export type Aliases = Readonly<Record<string, string>>;

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
export function compile<T>(tool: string, schema: ObjectSchema, aliases: Aliases = {}): (args: unknown) => T {
  const check = objectCheck(schema, aliases, tool);
  return (args) => {
    const result = check(args);
    if (!(result instanceof Problem)) return result as T;
    const argument = result.place();
    const stop = /[.?!]$/u.test(result.what) ? "" : ".";
    const named = argument === "" ? "" : `Invalid argument '${argument}': `;
    throw new FilewrightError("INVALID_ARGUMENT", `${named}${result.what}${stop}`, {
      details: argument === "" ? { tool } : { tool, argument },
    });
  };
}

function objectCheck(schema: ObjectSchema, aliases: Aliases, tool?: string): Check {
  const names = Object.keys(schema.properties);
  const known = new Set(names);
  const checks = names.map((name) => checkOf(schema.properties[name] as Schema));
  const defaults = names.map((name) => (schema.properties[name] as Schema).default);
  const nullable = names.map((name) => typesOf(schema.properties[name] as Schema).includes("null"));
  const required = names.map((name) => schema.required.includes(name));
  const aliasOf = new Map(Object.entries(aliases));
  return (given) => {
    const value = typeof given === "string" ? fromJson(given, "{") : given;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return new Problem(
        tool === undefined
          ? `must be an object, got ${kindOf(value)}`
          : `The arguments of ${tool} must be an object, got ${kindOf(value)}`,
      );
    }
    const source = value as Record<string, unknown>;
    const result: Record<string, unknown> = {};
    let spelled: Record<string, unknown> | undefined;
    for (const key of Object.keys(source)) {
      if (known.has(key)) continue;
      const canonical = aliasOf.get(key);
      if (canonical === undefined) return unknownKey(key, names, tool);
      const other = source[key];
      if (other === undefined || other === null) continue;
      const twin = (spelled ?? source)[canonical];
      if (twin !== undefined && twin !== null && twin !== other) {
        return new Problem(
          `'${key}' is another spelling of '${canonical}' and holds a different value; give one of them`,
          canonical,
        );
      }
      spelled ??= { ...source };
      spelled[canonical] = other;
    }
    const values = spelled ?? source;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const own = Object.hasOwn(values, name) ? values[name] : undefined;
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

/** What models call arguments elsewhere, and what they may mean here; the first that a tool has. */
const ELSEWHERE: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    offset: ["start_line", "cursor"],
    limit: ["max_lines", "max_results", "limit"],
    head_limit: ["max_results"],
    old_string: ["old_text"],
    oldtext: ["old_text"],
    old_content: ["old_text"],
    search: ["old_text", "pattern"],
    new_string: ["new_text"],
    newtext: ["new_text"],
    new_content: ["new_text", "content"],
    replace: ["new_text"],
    replacement: ["new_text"],
    text: ["content"],
    data: ["content"],
    file: ["path", "source"],
    filename: ["path"],
    directory: ["path"],
    dir: ["path"],
    dir_path: ["path"],
    folder: ["path"],
    root: ["path"],
    query: ["pattern"],
    regexp: ["pattern"],
    include: ["glob"],
    exclude_patterns: ["exclude"],
    excludepatterns: ["exclude"],
    ignore_case: ["case"],
    case_sensitive: ["case"],
    output_mode: ["output"],
    force: ["overwrite", "recursive"],
    recurse: ["recursive", "depth"],
    from: ["source"],
    src: ["source"],
    to: ["destination"],
    dst: ["destination"],
    dest: ["destination"],
    target: ["destination", "path"],
  }),
);

function unknownKey(key: string, names: readonly string[], tool: string | undefined): Problem {
  const shown = escapeControls(key.length > 60 ? `${key.slice(0, 60)}…` : key);
  const meant = ELSEWHERE.get(key.toLowerCase())?.find((name) => names.includes(name)) ?? nearest(key, names);
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
      return objectCheck(schema as ObjectSchema, {});
  }
}

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
function fromJson(text: string, begins: "[" | "{"): unknown {
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

function kindOf(value: unknown): string {
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
