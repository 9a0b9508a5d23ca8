/**
 * A JSON Schema in the form of Standard Schema, which frameworks take beside zod.
 * It only hands the schema over: what a model writes is checked, and a refusal
 * worded, when the tool is called.
 */

/** The parts of Standard Schema, and its JSON Schema extension, that are used. */
export interface StandardSchema<Value> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "filewright";
    readonly types?: { readonly input: Value; readonly output: Value };
    validate(
      value: unknown,
    ): { readonly value: Value; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };
    readonly jsonSchema: {
      input(options: { readonly target: string }): Record<string, unknown>;
      output(options: { readonly target: string }): Record<string, unknown>;
    };
  };
}

/** Why a value is refused. */
export interface StandardIssue {
  readonly message: string;
}

/** Wraps a JSON Schema of an object. */
export function standardSchema<Value extends object>(schema: object): StandardSchema<Value> {
  const json = (): Record<string, unknown> => structuredClone(schema) as Record<string, unknown>;
  return {
    "~standard": {
      version: 1,
      vendor: "filewright",
      validate: (value) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? { value: value as Value }
          : { issues: [{ message: "the arguments must be an object" }] },
      jsonSchema: { input: json, output: json },
    },
  };
}
