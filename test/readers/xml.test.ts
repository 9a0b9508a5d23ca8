import { describe, expect, it } from "vitest";
import { FilewrightError } from "../../js/engine/errors.ts";
import { locatePointer } from "../../js/readers/structured/locate.ts";

/** The value's text, lines and type, or the code and message of the failure. */
async function at(text: string, pointer: string): Promise<unknown> {
  try {
    const { start, end, startLine, endLine, type } = await locatePointer(text, pointer, "xml");
    return [text.slice(start, end), type, startLine, endLine];
  } catch (error) {
    if (error instanceof FilewrightError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

const pom = `<?xml version="1.0"?>
<!DOCTYPE project [ <!ENTITY x "y"> ]>
<project name="demo" xml:lang='en'>
  <!-- <version>0</version> -->
  <version>1.2.3</version>
  <dependencies>
    <dependency><id>a</id></dependency>
    <dependency><id>b</id><optional/></dependency>
  </dependencies>
  <m:note><![CDATA[<id>no</id>]]></m:note>
  <one><item>x</item></one>
</project>
`;

describe("values in XML", () => {
  it.each([
    ["/project/version", ["1.2.3", "string", 5, 5]],
    ["/project/@name", ["demo", "string", 3, 3]],
    ["/project/@xml:lang", ["en", "string", 3, 3]],
    ["/project/dependencies/dependency/1/id", ["b", "string", 8, 8]],
    ["/project/dependencies/dependency/0", ["<id>a</id>", "object", 7, 7]],
    ["/project/dependencies/dependency/1/optional", ["", "string", 8, 8]],
    ["/project/note", ["<![CDATA[<id>no</id>]]>", "string", 10, 10]],
    ["/project/one/item/0", ["x", "string", 11, 11]],
    [
      "/project/dependencies",
      [
        "<dependency><id>a</id></dependency>\n    <dependency><id>b</id><optional/></dependency>",
        "object",
        7,
        8,
      ],
    ],
    [
      "/project/dependencies/dependency",
      [
        "<dependency><id>a</id></dependency>\n    <dependency><id>b</id><optional/></dependency>",
        "array",
        7,
        8,
      ],
    ],
    ["", [pom, "document", 1, 12]],
  ])("%s", async (pointer, expected) => {
    expect(await at(pom, pointer)).toEqual(expected);
  });

  it.each([
    ["/project/versoin", /INVALID_ARGUMENT: Nothing at .*\n.*"version", "dependencies"/],
    ["/nothing", /"project"/],
    ["/project/dependencies/dependency/2", /an array of 2 items/],
    ["/project/dependencies/dependency/id", /an array of 2 items/],
    ["/project/version/deeper", /which has nothing below it/],
    ["/project/@nme", /"@name", "@xml:lang"/],
    ["/@name", /INVALID_ARGUMENT/],
  ])("%s leads nowhere, and what is there is said", async (pointer, message) => {
    expect(await at(pom, pointer)).toMatch(message);
  });

  it.each([
    ["<a><b></a></b>", /UNSUPPORTED_FORMAT.*broken at line 1/],
    ["<a>\n<b>", /broken at line 1: <b> is not closed/],
    ["<a><!-- ", /does not end/],
    ["<a x='>", /does not end/],
    ["", /Nothing at/],
    ["text", /Nothing at/],
    [`${"<a>".repeat(50_000)}${"</a>".repeat(50_000)}`, /Nothing at/],
    [`<a ${"x".repeat(50_000)}="1"/>`, /Nothing at/],
    [`<${"a".repeat(50_000)}/>`, /Nothing at/],
  ])("what is broken or endless is an error in little time: %#", async (text, message) => {
    expect(await at(text, "/a/b")).toMatch(message);
  });
});
