/** Files in older encodings, from end to end: read, edited, and edited back. */
import { describe, expect, test } from "vitest";
import { encodeText } from "../../js/engine/index.node.ts";
import { foundAs, texts } from "./encodings.ts";
import { share } from "../support/share.ts";
import { KINDS, place } from "../tools/harness.ts";

const sizes: readonly (readonly [name: string, make: (text: string) => string])[] = [
  ["one line", (text) => text],
  ["many lines", (text) => text.repeat(200)],
  ["comments in code", (text) => `int main(void) { return 0; } /* ${text.trim()} */\n`.repeat(20)],
];
const cases = texts.flatMap(([encoding, text]) =>
  sizes.map(([size, make]) => [encoding, size, make(text), text] as const),
);

describe.each(KINDS)("on %s", (kind) => {
  // By day half of them: each on one place or two.
  test.each(share(cases, 2, KINDS.indexOf(kind)))(
    "%s, %s: what is edited and edited back is the same bytes",
    async (encoding, _, whole, text) => {
      const before = Uint8Array.from(encodeText(whole, encoding));
      const { ws, bytes } = await place(kind, { f: before });
      const page = await ws.readFile({ path: "f", max_lines: null });
      expect(page).toMatchObject({ content: whole, encoding: foundAs(encoding) });
      const word = text.split(/[\s,.，。、]+/).find((one) => one !== "") as string;
      await ws.editFile({ path: "f", old_text: word, new_text: "[word]", replace_all: true });
      expect(await bytes("f")).toEqual(
        Uint8Array.from(encodeText(whole.replaceAll(word, "[word]"), encoding)),
      );
      await ws.editFile({ path: "f", old_text: "[word]", new_text: word, replace_all: true });
      expect(await bytes("f")).toEqual(before);
      const same = await ws.call("edit_file", {
        path: "f",
        old_text: word,
        new_text: word,
        replace_all: true,
      });
      expect(same.error?.code).toBe("NO_CHANGE");
      expect(await bytes("f")).toEqual(before);
    },
  );

  test.each(["shift_jis", "gb18030", "windows-1251", "utf-16le"])(
    "%s: bytes that fit no character stay where they are",
    async (encoding) => {
      const [, text] = texts.find(([name]) => name === encoding) ?? ["", "some words in a line\n"];
      const good = encodeText(text.repeat(9), encoding, { bom: encoding === "utf-16le" });
      const bad = encoding === "utf-16le" ? [0x00, 0xdc, 0x0a, 0x00] : [0x98, 0x0a];
      const before = Uint8Array.from([...good, ...bad, ...encodeText("end x\n", encoding)]);
      const { ws, bytes } = await place(kind, { f: before });
      await ws.editFile({ path: "f", old_text: "end x", new_text: "end y" });
      const after = Uint8Array.from([...good, ...bad, ...encodeText("end y\n", encoding)]);
      expect(await bytes("f")).toEqual(after);
    },
  );
});
