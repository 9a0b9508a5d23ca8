// Measures the detection of the encoding of bytes against jschardet, and of whether they are text.
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import jschardet from "jschardet";
import { compareShortCalls } from "../lib/measure.mjs";

export const title = "encoding: what bytes are, by their content";

/**
 * The maximum time in milliseconds to detect that a file is binary, or which encoding a text has.
 */
const MAX_DETECTION_MS = 0.005;

/** Texts in several languages, each with the encodings in which such texts occur. */
const TEXTS_WITH_ENCODINGS = [
  ["Grüße aus Köln: Länge, Übung und Straße müssen stimmen.", ["windows-1252", "utf-8", "utf-16le"]],
  ["L’été dernier, où l’on a été très déçu, le garçon était là.", ["windows-1252", "utf-8"]],
  [
    "Привет, мир! Это проверочный текст, и файл сохранён успешно.",
    ["windows-1251", "koi8-r", "ibm866", "iso-8859-5", "utf-16be"],
  ],
  ["Zażółć gęślą jaźń, a wszystkie pliki zostały zapisane pomyślnie.", ["windows-1250", "iso-8859-2"]],
  ["Αυτό είναι ένα δοκιμαστικό αρχείο, και η κωδικοποίηση είναι σωστή.", ["windows-1253"]],
  [
    "これはテストです。日本語の文章を正しく判定できるか確認する。",
    ["shift_jis", "euc-jp", "iso-2022-jp", "utf-16le"],
  ],
  ["这是一个测试文件，用来检查编码是否正确。请不要删除。", ["gb18030", "utf-8"]],
  ["這是一個測試檔案，用來檢查編碼是否正確。請不要刪除。", ["big5"]],
  ["이것은 테스트 파일입니다. 인코딩이 올바른지 확인합니다.", ["euc-kr"]],
];

export async function* rows({ load }) {
  const { decodeText, encodeText, inspect } = await load("engine/index.node.js");
  const samples = TEXTS_WITH_ENCODINGS.flatMap(([text, encodings]) =>
    encodings.flatMap((encoding) =>
      [`${text}\n`, `${text}\n`.repeat(30), `int f(void) { return 0; } /* ${text} */\n`.repeat(15)].map(
        (whole) => ({
          text: whole,
          bytes: encodeText(whole, encoding),
        }),
      ),
    ),
  );
  const buffers = samples.map(({ bytes }) => Buffer.from(bytes));
  const wrong = samples.filter(({ text, bytes }) => decodeText(bytes).text !== text);
  yield {
    name: `${samples.length} texts, each told once`,
    peer: "jschardet",
    goal: 50,
    note: `${samples.length - wrong.length} decode to the true text`,
    ...(await compareShortCalls(
      () => samples.map(({ bytes }) => inspect(bytes)),
      () => buffers.map((bytes) => jschardet.detect(bytes)),
      { rounds: 7 },
    )),
  };
  for (const [name, kind, bytes] of binarySamples(encodeText)) {
    const found = inspect(bytes).kind;
    if ((found === "text") !== (kind === "text")) throw new Error(`${name} is taken for ${found}`);
    const { ours_ms } = await compareShortCalls(
      () => inspect(bytes),
      () => undefined,
      { rounds: 3, milliseconds: 30 },
    );
    const met = ours_ms < MAX_DETECTION_MS;
    const limit =
      kind === "text" ? {} : { limit_ms: MAX_DETECTION_MS, met, note: met ? "" : "slower than 5 µs" };
    yield { name: `${kind}: ${name}`, ours_ms, ...limit };
  }
}

/**
 * Returns twenty samples of at most 8 KiB, the size of the head from which the kind of a file is
 * detected.
 */
function binarySamples(encodeText) {
  const bytes = (...parts) =>
    Uint8Array.from(Buffer.concat(parts.map((part) => Buffer.from(part, "latin1"))));
  const noise = randomBytes(8000);
  noise[100] = 0;
  const text = (line, encoding) => encodeText(line.repeat(Math.ceil(4000 / line.length)), encoding);
  const [japanese, chinese, russian] = [
    TEXTS_WITH_ENCODINGS[5][0],
    TEXTS_WITH_ENCODINGS[6][0],
    TEXTS_WITH_ENCODINGS[2][0],
  ];
  return [
    ["PNG", "binary", bytes("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", noise)],
    ["JPEG", "binary", bytes("\xff\xd8\xff\xe0\0\x10JFIF\0", noise)],
    ["PDF", "binary", bytes("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", noise)],
    ["ELF", "binary", bytes("\x7fELF\x02\x01\x01\0", noise)],
    ["WebAssembly", "binary", bytes("\0asm\x01\0\0\0", noise)],
    ["gzip", "binary", Uint8Array.from(gzipSync(noise)).subarray(0, 8192)],
    ["zip", "binary", bytes("PK\x03\x04\x14\0\0\0\x08\0", noise)],
    ["SQLite", "binary", bytes("SQLite format 3\0", noise)],
    ["MPEG transport stream", "binary", bytes(`G${"\0".repeat(187)}`.repeat(40))],
    ["Java class", "binary", bytes("\xca\xfe\xba\xbe\0\0\0\x34", noise)],
    ["noise", "binary", bytes(noise)],
    ["zeros", "binary", new Uint8Array(8192)],
    ["one NUL in ASCII", "binary", bytes("words on a line\n".repeat(100), "\0", "words\n".repeat(100))],
    ["log with colours", "text", text("\x1b[31merror\x1b[0m in a line\n", "utf-8")],
    ["windows-1251", "text", text(`${russian}\n`, "windows-1251")],
    ["Shift-JIS", "text", text(`${japanese}\n`, "shift_jis")],
    ["GB18030", "text", text(`${chinese}\n`, "gb18030")],
    ["UTF-16 without a mark", "text", text(`${russian}\n`, "utf-16le")],
    ["UTF-8", "text", text(`${chinese}\n`, "utf-8")],
    ["source code", "text", text("export const answer = 42;\n", "utf-8")],
  ];
}
