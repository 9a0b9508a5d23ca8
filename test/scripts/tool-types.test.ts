/** The types that are written for a tool, from nothing but its schemas. */
import { expect, test } from "vitest";
import { methodsText, publicTypesText } from "../../scripts/tool-types.mjs";
import type { EditArgs, GrepData } from "../../js/tools/index.ts";
import { EXACT, exactly, named } from "../../js/tools/lib/exact.ts";
import { object } from "../../js/tools/lib/schema.ts";
import { choice, flag, integer, path, text } from "../../js/tools/lib/shared.ts";

const touch = {
  name: "touch",
  description: "Sets the time of a file.",
  inputSchema: exactly(
    object(
      {
        path: path("The file"),
        time: text("When, ISO 8601."),
        like: text("The file whose time it gets."),
        unit: named("TimeUnit", choice("How exact.", ["ms", "ns"], "ms")),
        create: flag("Make a missing file.", true),
      },
      ["path"],
    ),
    { oneOf: { cases: [{ required: ["time"] }, { required: ["like"], optional: ["unit"] }] } },
  ),
  outputSchema: object(
    {
      created: exactly({ type: "boolean", description: "Whether it was made." }, { values: [true] }),
      times: { type: "array", description: "The times.", items: { type: ["integer", "null"] } },
      link: {
        ...object({ target: text("Where it points; **/ is any folder.") }, ["target"]),
        description: "The link.",
      },
    },
    ["times"],
  ),
};

test("a tool gets the types of its arguments and data, with the texts of its schemas", () => {
  expect(publicTypesText([touch], EXACT)).toMatchInlineSnapshot(`
    "// The arguments and data of the tools, written by \`npm run tool-types\`, not to be edited.

    /** How exact. */
    export type TimeUnit = "ms" | "ns";

    /** The arguments of \`touch\`. */
    export type TouchArgs = {
      /** The file; relative to the workspace, or absolute. */
      readonly path: string;
      /** Make a missing file. Default \`true\`. */
      readonly create?: boolean;
    } & (
      | {
          /** When, ISO 8601. */
          readonly time: string;
          /** The file whose time it gets. */
          readonly like?: never;
          /** How exact. Default \`"ms"\`. */
          readonly unit?: never;
        }
      | {
          /** When, ISO 8601. */
          readonly time?: never;
          /** The file whose time it gets. */
          readonly like: string;
          /** How exact. Default \`"ms"\`. */
          readonly unit?: TimeUnit;
        }
    );

    /** The data of \`touch\`. */
    export interface TouchData {
      /** Whether it was made. */
      readonly created?: true;
      /** The times. */
      readonly times: readonly (number | null)[];
      /** The link. */
      readonly link?: {
        /** Where it points; **\\/ is any folder. */
        readonly target: string;
      };
    }

    /** The arguments of each tool. */
    export interface ToolArgs {
      /** Sets the time of a file. */
      touch: TouchArgs;
    }

    /** The data of each tool's result. */
    export interface ToolData {
      /** Sets the time of a file. */
      touch: TouchData;
    }

    /** The name of a tool. */
    export type ToolName = keyof ToolArgs;
    "
  `);
});

test("a tool gets a method", () => {
  expect(methodsText([touch], EXACT)).toContain(
    "touch(args: TouchArgs, options?: CallOptions): Promise<TouchData>;",
  );
});

test("a property without a description is refused", () => {
  const silent = { ...touch, outputSchema: object({ size: { type: "integer" } }, []) };
  expect(() => publicTypesText([silent], EXACT)).toThrow("size has no description");
});

test("two types of one name are refused", () => {
  const [one, other] = [integer("Bytes."), text("Words.")].map((size) =>
    named("Size", { ...object({ size }, []), description: "A size." }),
  );
  const twice = { ...touch, outputSchema: object({ one: one!, other: other! }, []) };
  expect(() => publicTypesText([twice], EXACT)).toThrow("Size names two types");
});

test("an edit names its place in one way, and a search gives one kind of results", () => {
  const edits: readonly EditArgs[] = [
    { old_text: "a", new_text: "b", replace_all: true },
    { from: "1#abcdef", to: "2#abcdef", new_text: "b" },
    { json_pointer: "/a", new_text: "1" },
    // @ts-expect-error A text and a line are two places.
    { old_text: "a", from: "1#abcdef", new_text: "b" },
    // @ts-expect-error A last line goes with a first one.
    { old_text: "a", to: "2#abcdef", new_text: "b" },
    // @ts-expect-error An edit without a new text is no deletion.
    { old_text: "a" },
  ];
  expect(edits).toHaveLength(6);
  const counted = (data: GrepData<"count">): number => data.counts.length;
  // @ts-expect-error Counts are no matches.
  const matched = (data: GrepData<"count">): number => data.matches.length;
  expect([counted, matched]).toHaveLength(2);
});
