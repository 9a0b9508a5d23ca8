/** Small real files for the tests of readers, made on the spot. */
import { deflateRawSync } from "node:zlib";
import { FilewrightError } from "../../js/engine/errors.ts";
import type { ReaderInput, ReaderOptions, Rendered } from "../../js/readers/reader.ts";
import { readersFor } from "../../js/readers/registry.ts";
import { sourceOf } from "../../js/readers/source.ts";

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Returns the rendering, or code, message and details of the refusal. */
export async function read(
  bytes: Uint8Array | string,
  mime: string,
  options: ReaderOptions = {},
  more: Partial<ReaderInput> = {},
): Promise<Rendered & Partial<Pick<FilewrightError, "code" | "message" | "details" | "hint">>> {
  const source = sourceOf(typeof bytes === "string" ? bytesOf(bytes) : bytes);
  const MIB = 1024 * 1024;
  const limits = { imageBytes: 20 * MIB, wholeFileBytes: 20 * MIB, outputBytes: MIB };
  try {
    return await readersFor().read({ source, path: "the/file", mime, limits, options, ...more });
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    const { code, message, details, hint } = error;
    return { text: "", code, message, details, hint };
  }
}

const CRC = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

export function crc32(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) c = (CRC[(c ^ byte) & 0xff] as number) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

export interface Member {
  readonly name: string;
  readonly data: string | Uint8Array;
  /** Lie about the size in the directory. */
  readonly claim?: number;
  readonly stored?: boolean;
  readonly encrypted?: boolean;
  readonly symlink?: boolean;
}

/** A zip of some members. */
export function zip(members: readonly Member[], prefix = ""): Uint8Array {
  const parts: Buffer[] = [Buffer.from(prefix)];
  const directory: Buffer[] = [];
  let at = prefix.length;
  for (const { name, data, claim, stored, encrypted, symlink } of members) {
    const raw = Buffer.from(data);
    const packed = stored ? raw : deflateRawSync(raw);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800 | (encrypted ? 1 : 0), 2);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(raw), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claim ?? raw.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(symlink ? 0xa1ff0000 : 0, 6);
    tail.writeUInt32LE(at - prefix.length, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, tail, Buffer.from(name));
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, Buffer.from(name), packed]);
    parts.push(local);
    at += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at - prefix.length, 16);
  return new Uint8Array(Buffer.concat([...parts, central, end]));
}

export interface TarMember {
  readonly name: string;
  readonly data?: string;
  readonly flag?: string;
  readonly target?: string;
  /** Lie about the size. */
  readonly claim?: number;
}

/** A tar of some members. */
export function tar(members: readonly TarMember[]): Uint8Array {
  const parts: Buffer[] = [];
  for (const { name, data = "", flag = "0", target = "", claim } of members) {
    const body = Buffer.from(data);
    const header = Buffer.alloc(512);
    header.write(name.slice(0, 100), 0);
    header.write("0000644\0", 100);
    header.write(`${(claim ?? body.length).toString(8).padStart(11, "0")}\0`, 124);
    header.write(flag, 156);
    header.write(target, 157);
    header.write("ustar\x0000", 257);
    header.fill(0x20, 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    parts.push(header, body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  return new Uint8Array(Buffer.concat([...parts, Buffer.alloc(1024)]));
}

/** A PDF of some pages: a text each, null for an empty page, "image" in brackets for a picture. */
export function pdf(
  pages: readonly (string | null)[],
  more: { readonly encrypted?: boolean; readonly title?: string } = {},
): Uint8Array {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  const stream = (text: string, keys = ""): string =>
    `<< ${keys} /Length ${text.length} >>\nstream\n${text}\nendstream`;
  const font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  const image = add(
    stream(
      "\x7f",
      "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8",
    ),
  );
  const tree = objects.length + 2 * pages.length + 1;
  const kids = pages.map((text) => {
    const lines = (text ?? "")
      .split("\n")
      .map((line) => `(${line.replaceAll(/[\\()]/g, "\\$&")}) Tj 0 -14 Td`);
    const drawn =
      text === "[image]" ? "q 100 0 0 100 0 0 cm /I Do Q" : `BT /F 12 Tf 20 700 Td ${lines.join(" ")} ET`;
    const content = add(stream(text === null ? "" : drawn));
    const resources = `<< /Font << /F ${font} 0 R >> /XObject << /I ${image} 0 R >> >>`;
    return add(
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 612 792] /Contents ${content} 0 R /Resources ${resources} >>`,
    );
  });
  add(`<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] >>`);
  const root = add(`<< /Type /Catalog /Pages ${tree} 0 R >>`);
  const info = add(`<< /Title (${more.title ?? ""}) >>`);
  const key = "00".repeat(32);
  const guard = add(`<< /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -1 >>`);
  let text = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n";
  const offsets = objects.map((body, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return at;
  });
  const start = text.length;
  const rows = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`);
  const encrypt = more.encrypted ? `/Encrypt ${guard} 0 R /ID [<00> <00>]` : "";
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join("")}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root ${root} 0 R /Info ${info} 0 R ${encrypt} >>\nstartxref\n${start}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(text, "latin1"));
}
