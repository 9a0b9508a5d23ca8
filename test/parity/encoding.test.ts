/** The older encodings: from tables in one engine, from the platform's decoders in the other. */
import { expect, it } from "vitest";
import type { Engine } from "../../js/engine/engine.ts";
import { both, describeParity, engines } from "./engines.ts";

const russian = "Привет, мир! Это проверочный текст, и файл сохранён успешно.\n";
const japanese = "これはテストです。日本語の文章を正しく判定できるか、確認する。ﾃｽﾄ\n";
const chinese = "这是一个测试文件，用来检查编码是否正确。请不要删除。\n";
const polish = "Zażółć gęślą jaźń. Wszystkie pliki zostały zapisane pomyślnie.\n";

/** Texts as they are written in older encodings, and found again. */
const texts: readonly (readonly [encoding: string, text: string])[] = [
  ["windows-1251", russian],
  ["koi8-r", russian.replaceAll("\n", "\r\n")],
  ["ibm866", russian],
  ["iso-8859-5", russian],
  ["windows-1250", polish],
  ["iso-8859-2", polish],
  ["windows-1253", "Αυτό είναι ένα δοκιμαστικό αρχείο, και η κωδικοποίηση είναι σωστή.\n"],
  ["windows-1254", "Şu dosya başarıyla kaydedildi, güneşli bir gündü.\n"],
  ["windows-1255", "זהו קובץ בדיקה. הקידוד צריך להיות נכון, וגם הטקסט.\n"],
  ["windows-1256", "هذا ملف اختبار. يجب أن يكون الترميز صحيحا.\n"],
  ["windows-874", "นี่คือไฟล์ทดสอบ การเข้ารหัสต้องถูกต้อง\n"],
  ["shift_jis", japanese],
  ["euc-jp", japanese],
  ["iso-2022-jp", japanese.replace("ﾃｽﾄ", "")],
  ["gbk", chinese],
  ["gb18030", `${chinese}😀 ḿ\n`],
  ["big5", "這是一個測試檔案，用來檢查編碼是否正確。請不要刪除。\n"],
  ["euc-kr", "이것은 테스트 파일입니다. 인코딩이 올바른지 확인합니다.\n"],
];

const written = (encoding: string, text: string): Uint8Array =>
  (engines as { native: Engine }).native.encodeText(text, encoding);

describeParity("older encodings are the same on both engines", () => {
  it.each(texts)("%s is written and read", async (encoding, text) => {
    const bytes = written(encoding, text.repeat(3));
    const encoded = await both((engine) => engine.encodeText(text.repeat(3), encoding));
    expect(encoded.wasm).toEqual(encoded.native);
    for (const label of [encoding, encoding.toUpperCase().replaceAll("-", "_")]) {
      const { native, wasm } = await both((engine) => engine.decodeText(bytes, label));
      expect(wasm).toEqual(native);
    }
    // GBK is read as its superset.
    const name = encoding === "gbk" ? "gb18030" : encoding === "koi8-r" ? "koi8-u" : encoding;
    const found = await both((engine) => [engine.inspect(bytes).encoding, engine.decodeText(bytes).text]);
    expect(found.wasm).toEqual({ value: [name, text.repeat(3)] });
    expect(found.native).toEqual(found.wasm);
  });

  it.each(texts)("a page of %s, cut and gone on with inside its lines", async (encoding, text) => {
    const bytes = written(encoding, text.repeat(40));
    for (const request of [{ maxLineChars: 7 }, { startLine: 20, maxLines: 2 }, { contentBytes: 333 }]) {
      const { native, wasm } = await both((engine) => engine.readPage(bytes, { ...request, encoding }));
      expect(wasm).toEqual(native);
    }
    const { native } = engines as { native: Engine };
    const [long] = native.readPage(bytes, { maxLineChars: 7, encoding }).long;
    const on = await both((engine) => engine.readPage(bytes, { encoding, startByte: long?.restByte }));
    expect(on.wasm).toEqual(on.native);
    expect(on.wasm).toMatchObject({
      value: { content: expect.stringContaining([...text].slice(7).join("")) },
    });
  });

  it.each(texts)("an edit in %s writes only the bytes it names", async (encoding, text) => {
    const words = text.split(/[\s,.，。、]+/).filter((word) => word !== "");
    const edits = [{ oldText: words.at(-1) as string, newText: words[0] as string }];
    const bytes = written(encoding, `first line\n${text}`);
    const { native, wasm } = await both((engine) => engine.planEditsBytes(bytes, edits, { encoding }));
    expect(wasm).toEqual(native);
    expect(wasm).toMatchObject({ value: { ok: true, replacements: 1 } });
  });

  it.each([
    ["shift_jis", "a😀"],
    ["windows-1251", "caf\u00e9"],
    ["iso-2022-jp", "한"],
    ["big5", "你 \u{1f600}"],
    ["klingon", "a"],
  ])("what %s cannot hold is refused in the same words", async (encoding, text) => {
    const { native, wasm } = await both((engine) => engine.encodeText(text, encoding));
    expect(wasm).toEqual(native);
    expect(wasm).toHaveProperty("thrown");
  });

  it("bytes that are not text of the encoding that is named are refused; others stay as they are", async () => {
    const bytes = Uint8Array.of(0x82, 0xa0, 0x0a, 0x82, 0x20, 0x0a, 0x61, 0x0a);
    for (const call of [
      (engine: Engine) => engine.decodeText(bytes, "shift_jis"),
      (engine: Engine) => engine.readPage(bytes, { encoding: "shift_jis" }),
      (engine: Engine) =>
        engine.planEditsBytes(bytes, [{ oldText: "a", newText: "いう" }], { encoding: "shift_jis" }),
    ]) {
      const { native, wasm } = await both(call);
      expect(wasm).toEqual(native);
    }
  });

  it("a trail byte that is a backslash is none", async () => {
    const bytes = written("shift_jis", "表示\\表\n");
    const edits = [{ oldText: "\\", newText: "/" }];
    const { native, wasm } = await both((engine) =>
      engine.planEditsBytes(bytes, edits, { encoding: "shift_jis" }),
    );
    expect(wasm).toEqual(native);
    expect(wasm).toMatchObject({ value: { bytes: Uint8Array.from(written("shift_jis", "表示/表\n")) } });
  });
});
