/**
 * Types of JSON Schema, as far as tool arguments and data need it; and extensions for the options
 * of a host. `check.ts` enforces both.
 */

/** The JSON types used. */
export type SchemaType = "string" | "integer" | "number" | "boolean" | "array" | "object" | "null";

/** A schema in the subset that `compile` enforces. */
export interface Schema {
  /** The JSON type, or several. */
  readonly type: SchemaType | readonly SchemaType[];
  /** The meaning of the value. */
  readonly description?: string;
  /** The allowed values. */
  readonly enum?: readonly (string | number | null)[];
  /** The default value. */
  readonly default?: unknown;
  /** The least number. */
  readonly minimum?: number;
  /** The greatest number. */
  readonly maximum?: number;
  /** The least length of a text. */
  readonly minLength?: number;
  /** A regular expression that a text must match. */
  readonly pattern?: string;
  /** The least length of a list. */
  readonly minItems?: number;
  /** The greatest length of a list. */
  readonly maxItems?: number;
  /** The schema of each item of a list. */
  readonly items?: Schema;
  /** The schema of each property of an object. */
  readonly properties?: Readonly<Record<string, Schema>>;
  /** The required properties. */
  readonly required?: readonly string[];
  /** True when an object may have further properties, or their schema. */
  readonly additionalProperties?: boolean | Schema;
}

/** The schema of a tool's arguments or data. */
export interface ObjectSchema extends Schema {
  /** An object. */
  readonly type: "object";
  /** The schema of each property. */
  readonly properties: Readonly<Record<string, Schema>>;
  /** The required properties. */
  readonly required: readonly string[];
  /** True when there may be further properties. */
  readonly additionalProperties: boolean;
}

/** The types of values that only a program can pass. */
export type HostType = SchemaType | "function" | "instance" | "any";

/** A schema of options: JSON, and functions, dates, URLs and objects with methods of their own. */
export interface HostSchema extends Omit<Schema, "type" | "items" | "properties" | "additionalProperties"> {
  readonly type: HostType | readonly HostType[];
  readonly items?: HostSchema;
  /** The options of an object. Others are refused, unless `type` is `instance`. */
  readonly properties?: Readonly<Record<string, HostSchema>>;
  /** The schema of every value of an object whose keys are the host's own. */
  readonly values?: HostSchema;
  /** Instead of `type`: one of these must match. */
  readonly anyOf?: readonly HostSchema[];
  /** The name of the interface with these members. */
  readonly title?: string;
  /** The description of a value in a message, such as `a URL`. */
  readonly noun?: string;
  /** Returns what is wrong with a value of the right type; undefined for a valid one. */
  readonly test?: (value: never) => string | undefined;
  /** True when an object literal may have no other members, for `type` `instance`. */
  readonly closed?: boolean;
  /** The valid names for names from other systems. */
  readonly instead?: Readonly<Record<string, string>>;
}

/** A closed object schema. `required` names the properties without a default. */
export function closedObjectSchema(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): ObjectSchema {
  return { type: "object", properties, required, additionalProperties: false };
}
