import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readZipMember, readZip } from "../../js/readers/archive/zip.ts";
import { sourceOf } from "../../js/readers/source.ts";
import { bytesOf, read, tar, zip } from "./make.ts";

const ZIP = "application/zip";
const TAR = "application/x-tar";
const GZIP = "application/gzip";

describe("archives", () => {
  it("a zip is listed, with what is wrong about its names", async () => {
    const found = await read(
      zip([
        { name: "src/", data: "", stored: true },
        { name: "src/a.ts", data: "let a = 1;\n".repeat(10) },
        { name: "../../x", data: "out" },
        { name: "bell\u0007\u202e.txt", data: "1" },
        { name: "link", data: "/etc/passwd", symlink: true },
        { name: "secret", data: "s", encrypted: true },
      ]),
      ZIP,
    );
    expect(found.text.split("\n").slice(1)).toEqual([
      "   0  src/",
      " 110  src/a.ts",
      "   3  ../../x [leads outside]",
      "   1  bell\\x07\\u{202e}.txt",
      "  11  link [link]",
      "   1  secret [encrypted]",
    ]);
    expect(found.data).toMatchObject({ format: "zip", entry_count: 6, unpacked_bytes: 126 });
    expect(found.warning).toBe(
      "1 of its names lead out of the directory it is unpacked in. 1 of its entries are encrypted.",
    );
  });

  it("a zip after other bytes is found, and its members are where they are", async () => {
    const bytes = zip([{ name: "a", data: "text" }], "#!/bin/sh\n");
    expect((await read(bytes, ZIP)).text).toContain("4  a");
    const { entries } = (await readZip(sourceOf(bytes))) ?? { entries: [] };
    expect(await readZipMember(sourceOf(bytes), entries[0], 100)).toEqual(bytesOf("text"));
  });

  it("bombs are named and not unpacked", async () => {
    const bomb = zip([{ name: "zeros", data: new Uint8Array(4_000_000) }]);
    expect(await read(bomb, ZIP)).toMatchObject({
      data: { unpacked_bytes: 4_000_000 },
      warning: expect.stringContaining("do not unpack it unchecked"),
    });
    const { entries } = (await readZip(sourceOf(bomb))) ?? { entries: [] };
    expect(await readZipMember(sourceOf(bomb), entries[0], 1_000_000)).toBe("too large");
    // The directory may lie about the size: what comes out is what counts.
    const liar = zip([{ name: "zeros", data: new Uint8Array(4_000_000), claim: 10 }]);
    const lying = (await readZip(sourceOf(liar))) ?? { entries: [] };
    expect(await readZipMember(sourceOf(liar), lying.entries[0], 1_000_000)).toBe("damaged");
  });

  it.each([
    ["cut off", (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 30)],
    ["its beginning only", (bytes: Uint8Array) => bytes.subarray(0, 10)],
    ["nothing", () => new Uint8Array(0)],
  ])("a zip that is damaged is refused: %s", async (_name, cut) => {
    expect(await read(cut(zip([{ name: "a", data: "b" }])), ZIP)).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
      details: { mime: ZIP, reason: "damaged" },
    });
  });

  it("a zip of which any byte is changed never breaks the reader", async () => {
    const bytes = zip([
      { name: "a", data: "b".repeat(50) },
      { name: "c", data: "d" },
    ]);
    for (let at = 0; at < bytes.length; at++) {
      for (const value of [0, 0xff]) {
        const changed = bytes.slice();
        changed[at] = value;
        const found = await read(changed, ZIP);
        expect([undefined, "UNSUPPORTED_FORMAT"]).toContain(found.code);
        const directory = await readZip(sourceOf(changed));
        await readZipMember(sourceOf(changed), directory?.entries[0], 1000);
      }
    }
  });

  const members = [
    { name: "dir/", flag: "5" },
    { name: "dir/a", data: "x".repeat(1000) },
    { name: "/etc/cron.d/x", data: "y" },
    { name: "l", flag: "2", target: "../.." },
    { name: "h", flag: "1", target: "dir/a" },
    { name: "dev", flag: "3" },
    { name: "././@LongLink", flag: "L", data: `${"long/".repeat(30)}n\0` },
    { name: "short", data: "z" },
    { name: "pax", flag: "x", data: "16 path=größe\n" },
    { name: "short", data: "zz" },
  ];
  const listed = [
    "   0  dir/",
    "1000  dir/a",
    "   1  /etc/cron.d/x [leads outside]",
    "   0  l -> ../..",
    "   0  h -> dir/a",
    "   0  dev [device or other]",
    `   1  ${"long/".repeat(30)}n`,
    "   2  größe",
  ];

  it("a tar is listed, plain or in gzip, with long names", async () => {
    const plain = await read(tar(members), TAR);
    expect(plain.text.split("\n").slice(1)).toEqual(listed);
    const packed = await read(new Uint8Array(gzipSync(tar(members))), GZIP);
    expect(packed.text.split("\n").slice(1)).toEqual(listed);
    expect(packed.data).toMatchObject({ format: "tar in gzip", entry_count: 8 });
    expect(packed.warning).toContain("1 of its names");
  });

  it("a tar that ends early, or lies about a size, says so", async () => {
    const whole = tar(members);
    expect((await read(whole.subarray(0, 2048), TAR)).warning).toContain("cut short");
    const liar = tar([{ name: "a", data: "b", claim: 8 ** 11 - 1 }]);
    expect(await read(liar, TAR)).toMatchObject({ warning: expect.stringContaining("cut short") });
    expect((await read(new Uint8Array(gzipSync(liar)), GZIP)).warning).toContain("cut short");
    const packed = new Uint8Array(gzipSync(whole));
    expect(await read(packed.subarray(0, packed.length - 20), GZIP)).toMatchObject({
      text: expect.any(String),
    });
  });

  it("one text in gzip is shown, cut at a line; anything else is told", async () => {
    const log = "one line\n".repeat(10);
    expect((await read(new Uint8Array(gzipSync(log)), GZIP)).text).toBe(log);
    const long = await read(new Uint8Array(gzipSync("é line\n".repeat(500_000))), GZIP);
    expect(long.text.endsWith("line\n")).toBe(true);
    expect(long.warning).toContain("the first");
    expect((await read(new Uint8Array(gzipSync(new Uint8Array(20_000_000))), GZIP)).text).toContain(
      "not text",
    );
    expect(await read(bytesOf("\x1f\x8b\x08 no gzip"), GZIP)).toMatchObject({ code: "UNSUPPORTED_FORMAT" });
  });

  it("in text-only mode archives are refused", async () => {
    expect(await read(tar(members), TAR, { nonText: "error" })).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
      details: { mime: TAR, reason: "text_only" },
    });
  });
});
