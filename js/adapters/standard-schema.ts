/**
 * Wraps a JSON Schema as a Standard Schema, which frameworks accept as an alternative to zod. It
 * only carries the schema: the tool checks arguments and words the errors when it is called.
 */

/** The used parts of Standard Schema and its JSON Schema extension. */
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

/** The reason why a value is refused. */
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
