import { randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import "../../js/engine/index.node.ts";
import { crc32, read } from "./make.ts";

/** A PNG of one colour, or one whose header only claims its size. */
function png(width: number, height: number, rows = height): Uint8Array {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return new Uint8Array(
    Buffer.concat([
      Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
      chunk("IHDR", header),
      chunk("IDAT", deflateSync(Buffer.alloc((width + 1) * rows))),
      chunk("IEND", Buffer.alloc(0)),
    ]),
  );
}

const made = (format: "jpeg" | "gif" | "webp", width: number, height: number): Promise<Uint8Array> =>
  sharp({ create: { width, height, channels: 3, background: "#336699" } })
    .toFormat(format)
    .toBuffer();

function bmp(width: number, height: number): Uint8Array {
  const out = Buffer.alloc(54 + width * height * 4);
  out.write("BM");
  out.writeUInt32LE(out.length, 2);
  out.writeUInt32LE(54, 10);
  out.writeUInt32LE(40, 14);
  out.writeInt32LE(width, 18);
  out.writeInt32LE(-height, 22);
  return new Uint8Array(out);
}

describe("images", () => {
  it.each([
    ["png", async () => png(7, 3)],
    ["jpeg", () => made("jpeg", 7, 3)],
    ["gif", () => made("gif", 7, 3)],
    ["webp", () => made("webp", 7, 3)],
    ["bmp", async () => bmp(7, 3)],
  ])("%s becomes a block of its own bytes", async (format, make) => {
    const bytes = await make();
    const { content, data, text } = await read(bytes, `image/${format}`);
    expect(content).toEqual([
      {
        type: "image",
        source: {
          type: "base64",
          media_type: `image/${format}`,
          data: Buffer.from(bytes).toString("base64"),
        },
        file_path: "the/file",
        size_bytes: bytes.length,
      },
    ]);
    expect(data).toEqual({ mime: `image/${format}`, size: bytes.length, width: 7, height: 3 });
    expect(text).toBe(`[image: the/file, image/${format}, 7x3 pixels, ${bytes.length} bytes]`);
  });

  it("beyond the limit it is refused before its bytes are read", async () => {
    let reads = 0;
    const source = {
      size: 30_000_000,
      read: () => {
        reads += 1;
        return new Uint8Array();
      },
    };
    expect(await read("", "image/png", {}, { source })).toMatchObject({
      code: "TOO_LARGE",
      details: { size: 30_000_000, limit: 20 * 1024 * 1024 },
    });
    expect(reads).toBe(0);
  });

  it("one that claims 60000 x 60000 pixels is refused from its header", async () => {
    expect(await read(png(60_000, 60_000, 1), "image/png")).toMatchObject({
      code: "TOO_LARGE",
      details: { width: 60_000, height: 60_000 },
      hint: expect.stringContaining("60000x60000"),
    });
  });

  it("a large one is scaled to what models look at, and says so", async () => {
    const { content, data, warning } = await read(png(4000, 1000), "image/png");
    expect(data).toMatchObject({
      width: 4000,
      height: 1000,
      sent: { width: 1568, height: 392, mime: "image/png" },
    });
    expect(warning).toMatch(
      /^The image is large \(4000x1000 pixels, .*\): scaled down for the model to 1568x392/,
    );
    const sent = await sharp(Buffer.from(content?.[0]?.source.data ?? "", "base64")).metadata();
    expect([sent.format, sent.width, sent.height]).toEqual(["png", 1568, 392]);
  });

  it("too many bytes are made fewer", async () => {
    const noise = randomBytes(1500 * 1500 * 3);
    const bytes = await sharp(noise, { raw: { width: 1500, height: 1500, channels: 3 } })
      .png({ compressionLevel: 1 })
      .toBuffer();
    const { data, content } = await read(bytes, "image/png");
    expect(data?.["sent"]).toMatchObject({ mime: "image/jpeg" });
    expect(content?.[0]?.source.data.length).toBeLessThan(5 * 1024 * 1024);
    expect(content?.[0]?.size_bytes).toBe(bytes.length);
  });

  it("a large one that cannot be scaled is sent as it is within a client's limits, with a warning", async () => {
    const large = bmp(2000, 10);
    const { content, warning } = await read(large, "image/bmp");
    expect(content?.[0]?.source.data).toBe(Buffer.from(large).toString("base64"));
    expect(warning).toContain("sent as it is");
  });

  it("beyond a client's limits it is refused with both figures where it cannot be scaled", async () => {
    const bytes = bmp(1500, 1000);
    const encoded = Math.ceil(bytes.length / 3) * 4;
    expect(await read(bytes, "image/bmp")).toMatchObject({
      code: "TOO_LARGE",
      message: `${encoded} bytes as base64, and the limit is ${5 * 1024 * 1024}`,
      details: { size: encoded, limit: 5 * 1024 * 1024, file_size: bytes.length },
    });
    expect(await read(bmp(8001, 1), "image/bmp")).toMatchObject({
      code: "TOO_LARGE",
      details: { width: 8001, height: 1, limit_side: 8000 },
    });
  });

  describe("a damaged one is not handed over, and the answer says why", () => {
    const good = png(64, 64);
    const changed = (at: number): Uint8Array => {
      const bytes = good.slice();
      bytes[at] = (bytes[at] as number) ^ 1;
      return bytes;
    };
    /** Pixel data that is no zlib stream, with a right checksum. */
    const notZlib = (): Uint8Array => {
      const bytes = Buffer.from(good);
      const at = bytes.indexOf("IDAT");
      const length = bytes.readUInt32BE(at - 4);
      bytes.fill(0xff, at + 4, at + 4 + length);
      bytes.writeUInt32BE(crc32(bytes.subarray(at, at + 4 + length)), at + 4 + length);
      return new Uint8Array(bytes);
    };
    const without = (from: number, to: number): Uint8Array =>
      new Uint8Array([...good.subarray(0, from), ...good.subarray(to)]);

    it.each<[string, string, () => Uint8Array | Promise<Uint8Array>, RegExp]>([
      ["a PNG cut off", "png", () => good.subarray(0, good.length - 20), /ends before its end mark/],
      ["a PNG with bytes missing", "png", () => without(50, 55), /checksum|no chunk|end mark/],
      [
        "a PNG with a wrong checksum",
        "png",
        () => changed(45),
        /checksum of its IDAT chunk at byte 33 is wrong/,
      ],
      ["a PNG without its pixel data", "png", () => without(33, good.length - 12), /no pixel data/],
      ["a PNG whose pixel data is no zlib stream", "png", notZlib, /does not inflate/],
      ["a JPEG cut off", "jpeg", async () => (await made("jpeg", 64, 64)).subarray(0, -10), /end mark/],
      ["a WebP cut off", "webp", async () => (await made("webp", 64, 64)).subarray(0, -4), /end mark/],
      ["a GIF cut off", "gif", async () => (await made("gif", 64, 64)).subarray(0, -10), /end mark/],
    ])("%s", async (_, format, make, why) => {
      const { code, message, details, content } = await read(await make(), `image/${format}`);
      expect(content).toBeUndefined();
      expect({ code, details }).toMatchObject({ code: "UNSUPPORTED_FORMAT", details: { reason: "damaged" } });
      expect(message).toMatch(why);
    });

    it.each(["png", "jpeg", "gif", "webp"] as const)(
      "bytes behind the end of a %s are none",
      async (format) => {
        const whole = format === "png" ? good : await made(format, 64, 64);
        const { content } = await read(new Uint8Array([...whole, 1, 2, 3]), `image/${format}`);
        expect(content).toHaveLength(1);
      },
    );

    it("a damaged picture of a notebook is left out, and said", async () => {
      const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
      const outputs = [good, good.subarray(0, good.length - 20)].map((bytes) => ({
        output_type: "display_data",
        data: { "image/png": encoded(bytes) },
        metadata: {},
      }));
      const cell = { cell_type: "code", source: "", metadata: {}, execution_count: 1, outputs };
      const notebook = JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [cell] });
      const { content, text } = await read(notebook, "application/x-ipynb+json");
      expect(content?.map(({ source }) => source.data)).toEqual([encoded(good)]);
      expect(text).toContain("damaged, left out]");
    });

    it("interlaced, 16 bits, a palette and several chunks are whole", async () => {
      const noise = sharp(randomBytes(300 * 200 * 3), { raw: { width: 300, height: 200, channels: 3 } });
      for (const options of [{ progressive: true }, { palette: true }, { compressionLevel: 0 }]) {
        const bytes = await noise.clone().png(options).toBuffer();
        expect((await read(bytes, "image/png")).content, JSON.stringify(options)).toHaveLength(1);
      }
      const deep = await noise.clone().toColourspace("rgb16").png().toBuffer();
      expect((await read(deep, "image/png")).content).toHaveLength(1);
      const progressive = await noise.clone().jpeg({ progressive: true }).toBuffer();
      expect((await read(progressive, "image/jpeg")).content).toHaveLength(1);
    });
  });

  it("in text-only mode it is refused with its kind", async () => {
    expect(await read(png(1, 1), "image/png", { nonText: "error" })).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
      details: { mime: "image/png", reason: "text_only" },
      hint: expect.stringContaining("non_text"),
    });
  });
});
