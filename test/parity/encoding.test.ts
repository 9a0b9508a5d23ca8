/** The older encodings: from tables in one engine, from the platform's decoders in the other. */
import { expect, it } from "vitest";
import type { Engine } from "../../js/engine/engine.ts";
import { foundAs, texts } from "../engine/encodings.ts";
import { both, describeParity, engines } from "./engines.ts";

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
    const name = foundAs(encoding);
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
