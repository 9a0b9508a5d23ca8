/**
 * Types of JSON Schema, as far as tool arguments and data need it; and extensions for the options
 * of a host. `check.ts` enforces both.
 */

/** The types of JSON Schema that are used. */
export type SchemaType = "string" | "integer" | "number" | "boolean" | "array" | "object" | "null";

/** A schema, in the subset of JSON Schema that `compileCheck` enforces. */
export interface Schema {
  /** The JSON type of the value, or several types. */
  readonly type: SchemaType | readonly SchemaType[];
  /** The description of the value. */
  readonly description?: string;
  /** The values that the schema allows. */
  readonly enum?: readonly (string | number | null)[];
  /** The default value of the property. */
  readonly default?: unknown;
  /** The least valid number. */
  readonly minimum?: number;
  /** The greatest valid number. */
  readonly maximum?: number;
  /** The minimum length of a text, in UTF-16 units. */
  readonly minLength?: number;
  /** A regular expression that a text must match. */
  readonly pattern?: string;
  /** The minimum number of items of a list. */
  readonly minItems?: number;
  /** The maximum number of items of a list. */
  readonly maxItems?: number;
  /** The schema of each item of a list. */
  readonly items?: Schema;
  /** The schema of each property of an object. */
  readonly properties?: Readonly<Record<string, Schema>>;
  /** The names of the required properties of an object. */
  readonly required?: readonly string[];
  /** True when an object may have further properties, or the schema of these. */
  readonly additionalProperties?: boolean | Schema;
}

/** The schema of a tool's arguments or data. */
export interface ObjectSchema extends Schema {
  /** The JSON type, which is always an object. */
  readonly type: "object";
  /** The schema of each property of the object. */
  readonly properties: Readonly<Record<string, Schema>>;
  /** The names of the required properties of the object. */
  readonly required: readonly string[];
  /** True when the object may have further properties. */
  readonly additionalProperties: boolean;
}

/** The types of values that only a program can pass. */
export type HostType = SchemaType | "function" | "instance" | "any";

/** A schema of options: JSON, and functions, dates, URLs and objects with methods of their own. */
export interface HostSchema extends Omit<Schema, "type" | "items" | "properties" | "additionalProperties"> {
  readonly type: HostType | readonly HostType[];
  readonly items?: HostSchema;
  /** The schema of each property of an object. Other properties are refused, unless `type` is `instance`. */
  readonly properties?: Readonly<Record<string, HostSchema>>;
  /** The schema of every value, for an object with any keys. */
  readonly values?: HostSchema;
  /** Schemas of which one must fit, in place of `type`. */
  readonly anyOf?: readonly HostSchema[];
  /** The name of the TypeScript interface that has these members. */
  readonly title?: string;
  /** The description of a value in a message, such as `a URL`. */
  readonly noun?: string;
  /** Returns what is wrong with a value of the right type; undefined for a valid value. */
  readonly test?: (value: never) => string | undefined;
  /** True when an object literal may have no further members. Only for the type `instance`. */
  readonly closed?: boolean;
  /** The valid names by the names that other systems use, for the message about such a name. */
  readonly instead?: Readonly<Record<string, string>>;
}

/**
 * Returns the schema of an object without further properties. `required` names the properties that have no
 * default.
 */
export function closedObjectSchema(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): ObjectSchema {
  return { type: "object", properties, required, additionalProperties: false };
}
