/**
 * Encoders for encodings older than Unicode. The platform has only decoders for them, so each code is decoded
 * once, on first use, to build the table from characters to codes.
 *
 * If several codes encode one character, the one of the WHATWG Encoding Standard is used, so that
 * every engine writes the same bytes.
 */

type CodeTable = ReadonlyMap<string, readonly number[]>;

const codeTableByEncoding = new Map<string, CodeTable>();

/**
 * Encodes text. Returns the offset, in bytes of UTF-8, of the first character that the encoding does not
 * contain.
 */
export function encodeLegacy(encoding: string, text: string): Uint8Array | number {
  return encoding === "iso-2022-jp" ? encodeIso2022Jp(text) : encodeByTable(text, encoding);
}

function encodeByTable(text: string, encoding: string): Uint8Array | number {
  const table = codeTableOf(encoding);
  const bytes: number[] = [];
  let offset = 0;
  for (const c of text) {
    const code = c.codePointAt(0) as number;
    if (code < 0x80) bytes.push(code);
    else {
      const codes = table.get(c) ?? (encoding === "gb18030" ? gb18030FourBytes(code) : undefined);
      if (codes === undefined) return offset;
      bytes.push(...codes);
    }
    offset += utf8LengthOfCodePoint(code);
  }
  return Uint8Array.from(bytes);
}

function utf8LengthOfCodePoint(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

const ISO_2022_JP_ESCAPES = {
  ascii: [0x1b, 0x28, 0x42],
  roman: [0x1b, 0x28, 0x4a],
  kanji: [0x1b, 0x24, 0x42],
} as const;

/**
 * Encodes ISO-2022-JP: escape sequences switch between ASCII and the characters of EUC-JP without
 * their high bits.
 */
function encodeIso2022Jp(text: string): Uint8Array | number {
  const bytes: number[] = [];
  let state: Iso2022JpState = "ascii";
  const enter = (next: Iso2022JpState): void => {
    if (next !== state) bytes.push(...ISO_2022_JP_ESCAPES[next]);
    state = next;
  };
  let offset = 0;
  for (const c of text) {
    const code = c.codePointAt(0) as number;
    const step = iso2022JpStep(c, code, state);
    if (step === undefined) return offset;
    enter(step.state);
    bytes.push(...step.codes);
    offset += utf8LengthOfCodePoint(code);
  }
  enter("ascii");
  return Uint8Array.from(bytes);
}

type Iso2022JpState = keyof typeof ISO_2022_JP_ESCAPES;

/** Returns the state in which a character is written, and its codes; undefined for one that the encoding lacks. */
function iso2022JpStep(
  c: string,
  code: number,
  state: Iso2022JpState,
): { readonly state: Iso2022JpState; readonly codes: readonly number[] } | undefined {
  if (code === 0x0e || code === 0x0f || code === 0x1b) return undefined;
  if (code < 0x80) {
    const isRoman = state === "roman" && code !== 0x5c && code !== 0x7e;
    return { state: isRoman ? "roman" : "ascii", codes: [code] };
  }
  if (c === "¥") return { state: "roman", codes: [0x5c] };
  if (c === "‾") return { state: "roman", codes: [0x7e] };
  // The encoding does not contain half-width katakana, so full-width ones are written, as the WHATWG standard requires.
  const wide = code >= 0xff61 && code <= 0xff9f ? toFullWidthKatakana(c) : c;
  const codes = codeTableOf("euc-jp").get(wide);
  if (codes?.length !== 2 || codes[0] === 0x8e) return undefined;
  return { state: "kanji", codes: codes.map((one) => one & 0x7f) };
}

/**
 * Returns the full-width form of a half-width katakana. A voicing mark after it is converted by itself and
 * not combined with it.
 */
function toFullWidthKatakana(c: string): string {
  if (c === "\uff9e") return "\u309b";
  if (c === "\uff9f") return "\u309c";
  return c.normalize("NFKC");
}

function codeTableOf(encoding: string): CodeTable {
  let table = codeTableByEncoding.get(encoding);
  if (table === undefined) {
    table =
      TWO_BYTE_LAYOUTS[encoding] === undefined
        ? singleByteTable(encoding)
        : twoByteTable(encoding, TWO_BYTE_LAYOUTS[encoding]);
    codeTableByEncoding.set(encoding, table);
  }
  return table;
}

function singleByteTable(encoding: string): CodeTable {
  const table = new Map<string, readonly number[]>();
  const decoder = new TextDecoder(encoding);
  for (let byte = 0x80; byte < 0x100; byte++) {
    const c = decoder.decode(Uint8Array.of(byte));
    if (c !== "\ufffd" && !table.has(c)) table.set(c, [byte]);
  }
  return table;
}

/** The layout of a two-byte encoding, and its rules for duplicate codes. */
interface TwoByteLayout {
  /** Returns true for first bytes of codes that are decoded but never written. */
  readonly readOnly?: (lead: number) => boolean;
  /** Characters with several codes of which the last is written, not the first. */
  readonly last?: string;
  /** The first and the last byte of the range that encodes a character in one byte. */
  readonly single?: readonly [number, number];
  /** Codes of characters that decoding does not yield. */
  readonly extra?: Readonly<Record<string, readonly number[]>>;
}

const HALF_WIDTH_KATAKANA = { single: [0xa1, 0xdf] as const };

const TWO_BYTE_LAYOUTS: Readonly<Record<string, TwoByteLayout>> = {
  shift_jis: {
    ...HALF_WIDTH_KATAKANA,
    // These first bytes encode duplicates of other codes, or characters for private use.
    readOnly: (lead) => (lead >= 0xed && lead <= 0xef) || (lead >= 0xf0 && lead <= 0xf9),
    extra: { "\x80": [0x80], "¥": [0x5c], "‾": [0x7e], "\u2212": [0x81, 0x7c] },
  },
  "euc-jp": { extra: { "¥": [0x5c], "‾": [0x7e], "\u2212": [0xa1, 0xdd] } },
  "euc-kr": {},
  gbk: { extra: { "€": [0x80] } },
  gb18030: {},
  big5: { readOnly: (lead) => lead < 0xa1, last: "═╞╡╪十卅" },
};

/** Returns the characters of two bytes of which this is the first, each with the second. */
function charactersAfter(
  lead: number,
  decoder: TextDecoder,
): readonly (readonly [character: string, trail: number])[] {
  // A line feed follows each pair, so that an invalid pair cannot change how the next one is decoded.
  const row = new Uint8Array(3 * 0xbf);
  for (let trail = 0x40; trail <= 0xfe; trail++) row.set([lead, trail, 0x0a], 3 * (trail - 0x40));
  const found = decoder.decode(row).split("\n", 0xbf);
  const isWhole = (c: string): boolean =>
    c !== "\ufffd" && [...c].length === 1 && (c.codePointAt(0) as number) >= 0x80;
  return found.map((c, index) => [c, 0x40 + index] as const).filter(([c]) => isWhole(c));
}

function twoByteTable(encoding: string, layout: TwoByteLayout): CodeTable {
  const table = new Map<string, readonly number[]>();
  const decoder = new TextDecoder(encoding);
  const leads = Array.from({ length: 0x7e }, (_, index) => 0x81 + index);
  for (const lead of leads.filter((one) => layout.readOnly?.(one) !== true))
    for (const [c, trail] of charactersAfter(lead, decoder))
      if (!table.has(c) || layout.last?.includes(c) === true) table.set(c, [lead, trail]);
  if (encoding === "euc-jp") {
    for (let byte = 0xa1; byte <= 0xdf; byte++) table.set(String.fromCharCode(byte + 0xfec0), [0x8e, byte]);
  }
  const [from, to] = layout.single ?? [1, 0];
  for (let byte = from; byte <= to; byte++) table.set(decoder.decode(Uint8Array.of(byte)), [byte]);
  for (const [c, codes] of Object.entries(layout.extra ?? {})) table.set(c, codes);
  return table;
}

let gb18030BasicPlane: ReadonlyMap<number, number> | undefined;

/** Returns the four bytes with which GB18030 encodes a character that has no two-byte code. */
function gb18030FourBytes(code: number): readonly number[] | undefined {
  if (code < 0x10000) gb18030BasicPlane ??= readGb18030BasicPlane();
  const pointer = code < 0x10000 ? gb18030BasicPlane?.get(code) : code - 0x10000 + 189_000;
  return pointer === undefined ? undefined : fourBytesOfIndex(pointer);
}

function fourBytesOfIndex(pointer: number): readonly number[] {
  return [
    0x81 + Math.floor(pointer / 12_600),
    0x30 + (Math.floor(pointer / 1260) % 10),
    0x81 + (Math.floor(pointer / 10) % 126),
    0x30 + (pointer % 10),
  ];
}

/** Returns the index in GB18030's four-byte range of each character below U+10000 that has four bytes. */
function readGb18030BasicPlane(): ReadonlyMap<number, number> {
  const count = 39_420;
  const bytes = new Uint8Array(count * 5);
  for (let pointer = 0; pointer < count; pointer++)
    bytes.set([...fourBytesOfIndex(pointer), 0x0a], pointer * 5);
  const found = new TextDecoder("gb18030").decode(bytes).split("\n");
  const codes = new Map<number, number>();
  for (let pointer = 0; pointer < count; pointer++) {
    const c = found[pointer] ?? "";
    if (c.length === 1 && c !== "\ufffd") codes.set(c.charCodeAt(0), pointer);
  }
  return codes;
}
