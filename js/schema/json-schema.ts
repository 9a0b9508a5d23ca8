/**
 * JSON Schema, the part of it that tool arguments and data need, as types; and
 * what options of a host need besides. What enforces both is `check.ts`.
 */

/** The JSON types used. */
export type SchemaType = "string" | "integer" | "number" | "boolean" | "array" | "object" | "null";

/** A schema in the subset that `compile` enforces. */
export interface Schema {
  /** The JSON type, or several. */
  readonly type: SchemaType | readonly SchemaType[];
  /** What the value means. */
  readonly description?: string;
  /** The values there are. */
  readonly enum?: readonly (string | number | null)[];
  /** The value where none is given. */
  readonly default?: unknown;
  /** The least number. */
  readonly minimum?: number;
  /** The greatest number. */
  readonly maximum?: number;
  /** A number that is not allowed. */
  readonly not?: {
    /** That number. */
    readonly const: number;
  };
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
  /** The properties that must be given. */
  readonly required?: readonly string[];
  /** Whether an object may have further properties, or their schema. */
  readonly additionalProperties?: boolean | Schema;
}

/** The schema of a tool's arguments or data. */
export interface ObjectSchema extends Schema {
  /** An object. */
  readonly type: "object";
  /** The schema of each property. */
  readonly properties: Readonly<Record<string, Schema>>;
  /** The properties that must be given. */
  readonly required: readonly string[];
  /** Whether there may be further properties. */
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
  /** Instead of `type`: one of these must fit. */
  readonly anyOf?: readonly HostSchema[];
  /** The interface whose members these are. */
  readonly title?: string;
  /** What a value is called in a message, such as `a URL`. */
  readonly noun?: string;
  /** Says what is wrong with a value of the right type; undefined where nothing is. */
  readonly test?: (value: never) => string | undefined;
  /** Whether an object literal may have no other members, where `type` is `instance`. */
  readonly closed?: boolean;
  /** What to use instead of a name that other systems know. */
  readonly instead?: Readonly<Record<string, string>>;
}

/** A closed object schema. `required` names the properties without a default. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): ObjectSchema {
  return { type: "object", properties, required, additionalProperties: false };
}
