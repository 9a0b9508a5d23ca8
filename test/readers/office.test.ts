import { describe, expect, it } from "vitest";
import "../../js/engine/index.node.ts";
import { read, zip } from "./make.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument";
const DOCX = `${OFFICE}.wordprocessingml.document`;
const XLSX = `${OFFICE}.spreadsheetml.sheet`;
const PPTX = `${OFFICE}.presentationml.presentation`;

/** An Office file of some parts. */
const pack = (parts: Readonly<Record<string, string>>): Uint8Array =>
  zip(
    Object.entries({ "[Content_Types].xml": "<Types/>", ...parts }).map(([name, data]) => ({ name, data })),
  );

const relations = (targets: Readonly<Record<string, string>>, more = ""): string =>
  `<Relationships>${Object.entries(targets)
    .map(([id, target]) => `<Relationship Id="${id}" Target="${target}" ${more}/>`)
    .join("")}</Relationships>`;

const run = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
const p = (text: string, properties = ""): string => `<w:p><w:pPr>${properties}</w:pPr>${run(text)}</w:p>`;
const item = (text: string, list: number, level = 0): string =>
  p(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);

const docx = (body: string, more: Readonly<Record<string, string>> = {}): Uint8Array =>
  pack({
    "word/document.xml": `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
    ...more,
  });

describe("Word documents", () => {
  it("are Markdown: headings, lists, tables, links, notes, images", async () => {
    const bytes = docx(
      [
        p("Report &amp; plan", '<w:pStyle w:val="berschrift1"/>'),
        p("One <w:tab/>"),
        `<w:p>${run("See ")}<w:hyperlink r:id="rId9">${run("the site")}</w:hyperlink>${run(" now")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>`,
        item("first", 1),
        item("inner", 1, 1),
        item("second", 1),
        item("dot", 2),
        p("after"),
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>B|C</w:t></w:r></w:p></w:tc></w:tr>",
        `<w:tr><w:tc>${p("1")}${p("2")}</w:tc><w:tc>${p("3")}</w:tc></w:tr></w:tbl>`,
        `<w:p><w:r><w:drawing><wp:docPr id="1" descr="a chart"/></w:drawing></w:r></w:p>`,
        `<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins>${run("kept")}</w:ins></w:p>`,
      ].join(""),
      {
        "word/styles.xml": `<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
        "word/numbering.xml": `<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
        "word/_rels/document.xml.rels": relations(
          { rId9: "https://example.com/?a=1&amp;b=2" },
          'TargetMode="External"',
        ),
        "word/footnotes.xml": `<w:footnotes><w:footnote w:type="separator" w:id="0">${p("no")}</w:footnote><w:footnote w:id="2">${p("A note.")}</w:footnote></w:footnotes>`,
      },
    );
    const { text, data } = await read(bytes, DOCX);
    expect(text).toBe(`# Report & plan

One

See [the site](https://example.com/?a=1&b=2) now[^2]

1. first
  - inner
2. second
- dot

after

| A | B\\|C |
| --- | --- |
| 1 2 | 3 |

[image: a chart]

kept
[^2]: A note.`);
    expect(data).toMatchObject({ format: "docx", images: 1 });
  });

  it("an empty one says so; one without its parts, or with damaged ones, is refused", async () => {
    expect(await read(docx(""), DOCX)).toMatchObject({ text: "", warning: "The document has no text." });
    expect(await read(pack({}), DOCX)).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
      details: { reason: "damaged" },
    });
    expect(await read(docx(p("x")).subarray(0, 100), DOCX)).toMatchObject({ details: { reason: "damaged" } });
    expect((await read(docx("<w:p><w:r><w:t>cut <w:"), DOCX)).text).toBe("");
  });

  it("entities are not expanded, and bombs not unpacked", async () => {
    const bomb = docx(`<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${p("&b;&#x41;&#xD800;")}`);
    expect((await read(bomb, DOCX)).text).toBe("&b;A&#xD800;");
    const large = zip([{ name: "word/document.xml", data: "x", claim: 70 * 1024 * 1024 }]);
    expect(await read(large, DOCX)).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
      details: { reason: "bomb" },
    });
    const locked = zip([{ name: "word/document.xml", data: "x", encrypted: true }]);
    expect(await read(locked, DOCX)).toMatchObject({ details: { reason: "encrypted" } });
  });

  it("what is nested or repeated without end takes no time without end", async () => {
    const link = `<w:hyperlink r:id="a"><w:r><w:t>x</w:t></w:r></w:hyperlink>`;
    const links = docx(`<w:p>${link.repeat(100_000)}</w:p>`, {
      "word/_rels/document.xml.rels": relations({ a: "https://example.com/" }, 'TargetMode="External"'),
    });
    expect((await read(links, DOCX)).text).toHaveLength(100_000 * "[x](https://example.com/)".length);
    const table = (inner: string): string => `<w:tbl><w:tr><w:tc>${inner}</w:tc></w:tr></w:tbl>`;
    const [open, close] = table("\0").split("\0") as [string, string];
    const nested = docx(open.repeat(50_000) + p("deep") + close.repeat(50_000));
    expect((await read(nested, DOCX)).text).toContain("deep");
    const blank = docx(table(p(`a${" ".repeat(200_000)}b`)));
    expect((await read(blank, DOCX)).text).toContain("b |");
  });
});

const xlsx = (
  sheets: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Uint8Array => {
  const names = Object.keys(sheets);
  return pack({
    "xl/workbook.xml": `<workbook><sheets>${names
      .map(
        (name, at) =>
          `<sheet name="${name}" sheetId="${at + 1}" r:id="r${at}" ${at === 1 ? 'state="hidden"' : ""}/>`,
      )
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations(
      Object.fromEntries(
        names.map((_, at) => [`r${at}`, at === 0 ? "/xl/worksheets/s0.xml" : `worksheets/s${at}.xml`]),
      ),
    ),
    ...Object.fromEntries(
      names.map((name, at) => [
        `xl/worksheets/s${at}.xml`,
        `<worksheet><sheetData>${sheets[name]}</sheetData></worksheet>`,
      ]),
    ),
    ...more,
  });
};

describe("workbooks", () => {
  const book = xlsx(
    {
      "Q&amp;A": `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>in&#10;line</t></is></c></row>
        <row r="4"><c r="A4" s="1"><v>45000</v></c><c r="B4" s="2"><v>0.5</v></c><c r="C4" s="3"><v>45000.25</v></c><c r="D4"><v>1E400</v></c></row>
        <row r="5"><c r="A5" t="b"><v>1</v></c><c r="B5" t="e"><v>#REF!</v></c><c r="C5"><f>SUM(A1:A2)</f><v>7</v></c><c r="D5"><f>NOW()</f></c></row>`,
      second: `<row r="2"><c r="AB2"><v>28</v></c></row>`,
      empty: "",
    },
    {
      "xl/sharedStrings.xml": "<sst><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>no</t></rPh></si></sst>",
      "xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy&quot;y&quot;\\-mm hh:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="20"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
    },
  );

  it("are grids with row numbers and column letters", async () => {
    const { text, data } = await read(book, XLSX);
    expect(text.split("\n")).toEqual([
      "[workbook: 3 sheets]",
      "--- sheet 1: Q&A (3 rows) ---",
      "\tA\tB\tC\tD",
      "1\trich text\t\tin line",
      "4\t2023-03-15\t12:00:00\t2023-03-15 06:00:00\t1E400",
      "5\tTRUE\t#REF!\t7\t=NOW()",
      "--- sheet 2: second (1 row, hidden) ---",
      `\t${"ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("").join("\t")}\tAA\tAB`,
      `2${"\t".repeat(28)}28`,
      "--- sheet 3: empty (0 rows) ---",
      "[empty]",
    ]);
    expect(data).toMatchObject({
      sheet_count: 3,
      names: ["Q&A", "second", "empty"],
      sheets: [{ rows: 3, columns: 4 }, {}, {}],
    });
  });

  it("pages chooses sheets, and the output has a budget", async () => {
    expect((await read(book, XLSX, { pages: "3" })).text).toBe(
      "[workbook: 3 sheets]\n--- sheet 3: empty (0 rows) ---\n[empty]",
    );
    expect(await read(book, XLSX, { pages: "4" })).toMatchObject({
      message: expect.stringContaining("No sheet 4"),
    });
    const rows = Array.from({ length: 1000 }, (_, n) => `<row r="${n + 1}"><c><v>${n}</v></c></row>`).join(
      "",
    );
    const limits = { imageBytes: 1e6, wholeFileBytes: 1e6, outputBytes: 1000 };
    const long = await read(xlsx({ a: rows, b: rows }), XLSX, {}, { limits });
    expect(long.text.length).toBeLessThan(1500);
    expect(long.text).toContain("(1000 rows)");
    expect(long.text).toContain("[rows left out: the output is full]");
  });

  it("hostile references do no harm", async () => {
    const bytes = xlsx({
      a: `<row r="-5"><c r="ZZZ1" t="s"><v>99999999</v></c><c r="9" s="1e9"><v>1</v></c><c r="B" t="s"><v>x</v></c></row>`,
    });
    expect((await read(bytes, XLSX)).text).toContain("sheet 1");
    expect(await read(pack({ "xl/workbook.xml": "<workbook/>" }), XLSX)).toMatchObject({
      text: "[workbook: 0 sheets]",
    });
  });
});

describe("presentations", () => {
  const slide = (...lines: readonly string[]): string =>
    `<p:sld>${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join("")}<a:p><a:fld><a:t>7</a:t></a:fld></a:p></p:sld>`;
  const bytes = pack({
    "ppt/presentation.xml": `<p:presentation><p:sldIdLst><p:sldId id="256" r:id="b"/><p:sldId id="257" r:id="a"/></p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relations({ a: "slides/slide1.xml", b: "slides/slide2.xml" }),
    "ppt/slides/slide1.xml": slide("Last"),
    "ppt/slides/slide2.xml": slide("Title", "Line &lt;1&gt;"),
    "ppt/slides/_rels/slide2.xml.rels": relations({ n: "../notesSlides/notesSlide2.xml" }),
    "ppt/notesSlides/notesSlide2.xml": slide("Say hello"),
  });

  it("are the text of their slides in order, with notes", async () => {
    const { text, data } = await read(bytes, PPTX);
    expect(text).toBe(
      "[presentation: 2 slides]\n--- slide 1 ---\nTitle\nLine <1>\n[notes]\nSay hello\n--- slide 2 ---\nLast",
    );
    expect(data).toMatchObject({ slide_count: 2, slides: [1, 2] });
    expect((await read(bytes, PPTX, { pages: "-1" })).text).toBe(
      "[presentation: 2 slides]\n--- slide 2 ---\nLast",
    );
  });
});

describe("Office files that are not read", () => {
  const ole = (name: string): Uint8Array => {
    const head = Buffer.alloc(1024);
    head.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    head.write(name, 512, "utf16le");
    return new Uint8Array(head);
  };

  it.each([
    ["encrypted", "EncryptedPackage", "encrypted"],
    ["of the old kind", "WordDocument", "legacy"],
  ])("the reason is told: %s", async (_name, stream, reason) => {
    expect(await read(ole(stream), "application/x-ole-storage")).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
      details: { reason },
    });
  });
});
