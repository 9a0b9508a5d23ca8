/** Reading, writing and editing in configured places: what the table of the preset `amplifier` does not show. */
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { KINDS, type Kind, place, type Seed } from "../tools/harness.ts";

const MIB = 1024 * 1024;
const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === "string" ? Array.from(part, (c) => c.charCodeAt(0)) : part)),
  );
const PNG = bytes(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
);
const zeros = (count: number): readonly number[] => Array<number>(count).fill(0);

/** The preset with the whole base readable: its own defaults, on either storage. */
const open = (kind: Kind, seed: Seed = {}, options: Parameters<typeof place>[2] = {}) =>
  place(kind, seed, { preset: "amplifier", ...options });

describe.each(KINDS)("on %s", (kind) => {
  const READ = "Access denied: P is not within allowed read paths";
  const WRITE = "Access denied: P is not within allowed write paths";
  const places: readonly [string, string, string, boolean][] = [
    ["an entry that is a file", "read_file", "one.txt", true],
    ["below an entry", "read_file", "in/deep/a", true],
    ["not a file beside it", "read_file", "two.txt", false],
    ["not above an entry", "read_file", ".", false],
    ["not a name that begins like one", "read_file", "inner/a", false],
    ["not around it", "read_file", "in/../two.txt", false],
    ["not through a link", "read_file", "in/link", false],
    ["below an entry for writing", "write_file", "in/new/a", true],
    ["not where only reading is allowed", "write_file", "one.txt", false],
    ["not through a link, for writing", "write_file", "in/link", false],
  ];
  test.each(places)("the configured places: %s (%s)", async (_, tool, file_path, allowed) => {
    const seed = {
      "one.txt": "1",
      "two.txt": "2",
      "in/deep/a": "3",
      "inner/a": "4",
      "in/link": { link: "../two.txt" },
    };
    const { ws, text } = await open(kind, seed, { access: { read: ["one.txt", "in"], write: ["in"] } });
    const result = await ws.call(tool, { file_path, ...(tool === "write_file" ? { content: "new" } : {}) });
    expect(result.ok, result.text).toBe(allowed);
    if (!allowed) {
      expect(result.error?.code).toBe("OUTSIDE_ALLOWED");
      expect(result.text).toContain((tool === "read_file" ? READ : WRITE).replace("P", file_path));
      expect([await text("one.txt"), await text("two.txt")]).toEqual(["1", "2"]);
    }
  });

  const images: readonly [string, string, Uint8Array, string][] = [
    ["a.png", "PNG", PNG, "image/png"],
    ["a.PNG", "capitals", PNG, "image/png"],
    ["a.gif", "GIF", bytes("GIF89a", [1, 0, 1, 0, 0, 0, 0, 0x3b]), "image/gif"],
    [
      "a.bmp",
      "BMP",
      bytes("BM", zeros(12), [40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0], zeros(24)),
      "image/bmp",
    ],
    [
      "a.webp",
      "WebP",
      bytes(
        "RIFF",
        [26, 0, 0, 0],
        "WEBPVP8L",
        [13, 0, 0, 0, 0x2f, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88, 0x88, 0xfe, 7, 0],
      ),
      "image/webp",
    ],
    [
      "a.jpg",
      "JPEG",
      bytes(
        [0xff, 0xd8, 0xff, 0xe0, 0, 16],
        "JFIF",
        [0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xff, 0xd9],
      ),
      "image/jpeg",
    ],
    [
      "a.jpeg",
      "the longer name",
      bytes(
        [0xff, 0xd8, 0xff, 0xe0, 0, 16],
        "JFIF",
        [0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xff, 0xd9],
      ),
      "image/jpeg",
    ],
  ];
  test.each(images)(
    "%s (%s) comes as a block, from the tool that reads text",
    async (name, _, content, media_type) => {
      const { ws } = await open(kind, { [name]: content, "t.txt": "text\n" });
      const { content: blocks, ok, text } = await ws.call("read_file", { file_path: name });
      expect(ok, text).toBe(true);
      expect(blocks).toEqual([
        {
          type: "image",
          source: { type: "base64", media_type, data: btoa(String.fromCharCode(...content)) },
          file_path: name,
          size_bytes: content.length,
        },
      ]);
      const plain = await ws.call("read_file", { file_path: "t.txt" });
      expect([plain.content, plain.text]).toEqual([undefined, "     1\ttext"]);
    },
  );

  test("what only has the name of an image is none", async () => {
    const { ws } = await open(kind, { "a.png": "just text\n" });
    const { content, text } = await ws.call("read_file", { file_path: "a.png" });
    expect([content, text.includes("just text")]).toEqual([undefined, true]);
  });

  test("an image may be as large as the limit, which the host sets", async () => {
    const seed = { "a.png": bytes([...PNG], zeros(930)), "b.png": bytes([...PNG], zeros(931)) };
    const { ws } = await open(kind, seed, { limits: { imageBytes: 1000 } });
    expect((await ws.call("read_file", { file_path: "a.png" })).content?.[0]?.size_bytes).toBe(1000);
    const { error, text } = await ws.call("read_file", { file_path: "b.png" });
    expect(error?.code).toBe("TOO_LARGE");
    expect(text).toMatch(/1001 bytes.*1000 bytes/u);
    const free = await open(kind, seed);
    expect((await free.ws.call("read_file", { file_path: "b.png" })).ok).toBe(true);
  });

  test("an image of more than 5 MB comes with a warning, a smaller one without", async () => {
    const large = new Uint8Array(5 * MIB + 1);
    large.set(PNG);
    const seed = { "a.png": large, "b.png": large.slice(0, 5 * MIB) };
    const { ws } = await open(kind, seed, { limits: { imageBytes: 20 * MIB } });
    const warning = async (file_path: string) =>
      ((await ws.call("read_file", { file_path })).data as { readonly warning?: string }).warning;
    expect(await warning("a.png")).toMatch(/large/iu);
    expect(await warning("b.png")).toBeUndefined();
    // Unless the host says how large an image may be, what clients do not take is scaled down.
    const free = await open(kind, seed);
    const scaled = await free.ws.call("read_file", { file_path: "a.png" });
    expect(scaled.content?.[0]?.source.data.length).toBeLessThanOrEqual(5 * MIB);
  });

  test("an approval is asked for where the host wants it: before changes, not before reading", async () => {
    const asked: string[] = [];
    const confirm = ({ tool }: { readonly tool: string }) => {
      asked.push(tool);
      return { outcome: "proceed_once" as const };
    };
    const work = async (options: Parameters<typeof place>[2]) => {
      const { ws } = await open(kind, { a: "1\n" }, options);
      const calls = [
        ["read_file", { file_path: "a" }],
        ["write_file", { file_path: "b", content: "2" }],
        ["edit_file", { file_path: "a", old_string: "1", new_string: "2" }],
      ] as const;
      const codes = [];
      for (const [tool, args] of calls) codes.push((await ws.call(tool, args)).error?.code);
      return codes;
    };
    expect(await work({})).toEqual([undefined, undefined, undefined]);
    expect(await work({ requireApproval: true, confirm })).toEqual([undefined, undefined, undefined]);
    expect(asked).toEqual(["write_file", "edit_file"]);
    expect(await work({ requireApproval: true })).toEqual([undefined, "APPROVAL_DENIED", "APPROVAL_DENIED"]);
  });

  test("relative paths mean the working directory; outside the preset a tilde is a plain character", async () => {
    const seed = { "d/a": "in d", "~/a": "plain" };
    const canonical = await place(kind, seed);
    expect((await canonical.ws.readFile({ path: "~/a" })).content).toBe("plain");
    const { ws, text } = await open(kind, seed);
    await ws.call("write_file", { file_path: "d/../d/n", content: "new" });
    expect(await text("d/n")).toBe("new");
    expect((await ws.call("read_file", { file_path: "~/a" })).text).not.toContain("plain");
  });
});

test("a tilde of the preset is the home directory, as far as that may be used", async () => {
  const { ws, root, outside } = await open(
    "local",
    { "home/a": "at home", "../out/a": "elsewhere" },
    { access: { read: ["home"], write: ["home"] } },
  );
  const before = process.env["HOME"];
  try {
    process.env["HOME"] = `${root}/home`;
    expect((await ws.call("read_file", { file_path: "~/a" })).text).toBe("     1\tat home");
    expect((await ws.call("write_file", { file_path: "~/n", content: "new" })).ok).toBe(true);
    process.env["HOME"] = outside;
    expect((await ws.call("read_file", { file_path: "~/a" })).error?.code).toBe("OUTSIDE_ALLOWED");
  } finally {
    process.env["HOME"] = before;
  }
  expect(readFileSync(`${root}/home/n`, "utf8")).toBe("new");
});

describe("the package", () => {
  test("one file for each tool", async () => {
    const { ws } = await place("memory");
    for (const { name } of ws.tools) {
      expect(existsSync(new URL(`../../js/tools/${name}.ts`, import.meta.url)), name).toBe(true);
    }
  });

  test("nothing is needed at run time but the host", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(manifest.dependencies ?? {}).toEqual({});
    for (const name of Object.keys(manifest.peerDependencies ?? {})) {
      expect(manifest.peerDependenciesMeta[name]?.optional, name).toBe(true);
    }
  });
});
