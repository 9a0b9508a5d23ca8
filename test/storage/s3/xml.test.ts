/** The reader of an object store's XML: what it accepts, what it refuses, and saxes as its reference. */
import fc from "fast-check";
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";
import { parseErrorCode, parseListing } from "../../../packages/storage/src/s3/xml.ts";

const OBJECT = "<LastModified>2026-01-02T03:04:05.000Z</LastModified>";
const listing = (inside: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</ListBucketResult>`;

describe("a listing", () => {
  test("has its elements in any order, and a prefix only below CommonPrefixes", () => {
    const modified = Date.UTC(2026, 0, 2, 3, 4, 5);
    const page = parseListing(
      listing(
        "<Prefix>ws/</Prefix><CommonPrefixes><Prefix>ws/b/</Prefix></CommonPrefixes>" +
          `<Contents><Size>3</Size><ETag>&quot;x&quot;</ETag>${OBJECT}<Owner><ID>me</ID></Owner><Key>ws/a&amp;b</Key></Contents>` +
          `<Contents>${OBJECT}<Key>ws/c</Key><Size>0</Size></Contents>` +
          "<NextContinuationToken>n&#x41;%2B</NextContinuationToken><IsTruncated>true</IsTruncated>",
      ),
    );
    expect(page).toEqual({
      objects: [
        { key: "ws/a&b", size: 3, etag: '"x"', modified },
        { key: "ws/c", size: 0, etag: "", modified },
      ],
      prefixes: ["ws/b/"],
      next: "nA%2B",
    });
  });

  test("without objects is empty, also as an empty element", () => {
    expect(parseListing(listing("<KeyCount>0</KeyCount><IsTruncated>false</IsTruncated>"))).toEqual({
      objects: [],
      prefixes: [],
    });
    expect(parseListing("<ListBucketResult/>")).toEqual({ objects: [], prefixes: [] });
  });

  test("decodes keys where the store says that they are encoded, and never the token", () => {
    const page = parseListing(
      listing(
        `<EncodingType>url</EncodingType><Contents>${OBJECT}<Key>a%2Fb+c%25</Key><Size>1</Size></Contents>` +
          "<IsTruncated>true</IsTruncated><NextContinuationToken>t%2F</NextContinuationToken>",
      ),
    );
    expect([page.objects[0]?.key, page.next]).toEqual(["a/b c%", "t%2F"]);
  });

  test.each([
    [
      "a document type",
      `<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>${listing("<Prefix>&b;</Prefix>")}`,
    ],
    ["an entity of its own", listing("<Prefix>&b;</Prefix>")],
    ["an entity from the prototype of objects", listing("<Prefix>&constructor;</Prefix>")],
    ["half a surrogate", listing("<Prefix>&#xD800;</Prefix>")],
    ["a bare ampersand", listing("<Prefix>a & b</Prefix>")],
    ["an element that does not close", "<ListBucketResult><Contents></ListBucketResult>"],
    ["an end without a beginning", "<ListBucketResult></ListBucketResult></Contents>"],
    ["two roots", "<ListBucketResult/><ListBucketResult/>"],
    ["text after the end", "<ListBucketResult/>x"],
    ["a comment", listing("<!-- no -->")],
    ["raw text", listing("<![CDATA[<Key>]]>")],
    ["a declaration in the middle", '<ListBucketResult><?xml version="1.0"?></ListBucketResult>'],
    ["forty levels", "<a>".repeat(40) + "</a>".repeat(40)],
    ["another answer", "<Error><Code>SlowDown</Code></Error>"],
    ["HTML", "<html><body>503</body></html>"],
    ["nothing", ""],
    ["no key", listing(`<Contents>${OBJECT}<Size>1</Size></Contents>`)],
    ["a size that is no number", listing(`<Contents>${OBJECT}<Key>a</Key><Size>x</Size></Contents>`)],
    ["a next page without a token", listing("<IsTruncated>true</IsTruncated>")],
  ])("with %s is refused, and never empty", (_, xml) => {
    expect(() => parseListing(xml)).toThrow(/the store's XML/u);
  });

  test("of a million entities and of a million open tags ends soon", () => {
    const many = 200_000;
    expect(() => parseListing(listing(`<Prefix>${"&amp;".repeat(many)}</Prefix>`))).not.toThrow();
    expect(() => parseListing("<a>".repeat(many))).toThrow(/too deep/u);
    expect(() => parseListing(`<a ${"b='c' ".repeat(many)}`)).toThrow(/neither/u);
  });
});

test("the code of an error is a plain word, and nothing else of it is read", () => {
  const error = (code: string): string =>
    `<?xml version="1.0"?><Error><Message>key AKIA</Message><Code>${code}</Code><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>`;
  expect(parseErrorCode(error("SlowDown"))).toBe("SlowDown");
  for (const code of ["", "a b", "<b/>", "x".repeat(65), "&#10;a b"])
    expect(parseErrorCode(error(code))).toBeUndefined();
  for (const body of ["", "{}", "<html>", "<Code>SlowDown</Code>"])
    expect(parseErrorCode(body)).toBeUndefined();
});

/** Reads the keys and prefixes of a listing with saxes. */
function referenceKeys(xml: string): readonly string[] {
  const found: string[] = [];
  const open: string[] = [];
  let text = "";
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name }) => {
    open.push(name);
    text = "";
  });
  parser.on("text", (piece) => {
    text += piece;
  });
  parser.on("closetag", () => {
    const path = open.join(" ");
    if (path === "ListBucketResult Contents Key" || path === "ListBucketResult CommonPrefixes Prefix")
      found.push(text);
    open.pop();
  });
  parser.write(xml).close();
  return found.sort();
}

const escaped = (text: string): string =>
  text.replace(/[&<>"'\t\n\r]/gu, (char) => `&#${char.codePointAt(0)};`);
/** Text that XML can hold. */
const xmlText = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .filter((text) => !/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(text));

test("it reads the keys that saxes reads", () => {
  fc.assert(
    fc.property(fc.array(xmlText), fc.array(xmlText), (keys, prefixes) => {
      const xml = listing(
        keys
          .map((key) => `<Contents>${OBJECT}<Key>${escaped(key)}</Key><Size>1</Size></Contents>`)
          .join("\n") +
          prefixes
            .map((prefix) => `<CommonPrefixes><Prefix>${escaped(prefix)}</Prefix></CommonPrefixes>`)
            .join(""),
      );
      const page = parseListing(xml);
      const read = [...page.objects.map(({ key }) => key), ...page.prefixes].sort();
      expect(read).toEqual([...keys, ...prefixes].sort());
      expect(read).toEqual(referenceKeys(xml));
    }),
  );
});

test("what it accepts of a damaged listing, saxes reads in the same way", () => {
  const whole = listing(
    `<Prefix>p</Prefix><Contents><Key>a&amp;b</Key>${OBJECT}<Size>1</Size></Contents><CommonPrefixes><Prefix>c/</Prefix></CommonPrefixes>`,
  );
  fc.assert(
    fc.property(
      // Behind the declaration, of which saxes knows more.
      fc.integer({ min: whole.indexOf("<ListBucketResult"), max: whole.length }),
      fc.nat(6),
      fc.constantFrom(
        "",
        "<",
        ">",
        "/",
        "&",
        ";",
        "&lt;",
        "<a>",
        "</a>",
        "<a/>",
        "'",
        '"',
        "]]>",
        "<!--",
        " x=''",
      ),
      (at, length, inserted) => {
        const xml = whole.slice(0, at) + inserted + whole.slice(at + length);
        let read: readonly string[];
        try {
          const page = parseListing(xml);
          read = [...page.objects.map(({ key }) => key), ...page.prefixes].sort();
        } catch {
          return;
        }
        expect(read).toEqual(referenceKeys(xml));
      },
    ),
    { numRuns: 2000 },
  );
});
