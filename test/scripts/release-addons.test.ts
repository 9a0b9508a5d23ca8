/** An addon is released only if every machine of its platform can load it; what hinders that is told in words. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, test } from "vitest";
import { inspectElf } from "../../scripts/release/elf.mjs";
import { INSTALL_NAME, inspectMachO } from "../../scripts/release/mach-o.mjs";
import { rehearsalTable } from "../../scripts/release/rehearse-addons.mjs";
import { platformName } from "../../scripts/lib/platform.mjs";
import { nodeCommand } from "../../scripts/release/foreign-node.mjs";
import { parseTarget, releaseTargets } from "../../scripts/release/targets.mjs";

const ROOT = resolve(import.meta.dirname, "../..");

describe("platforms", () => {
  it("are those of package.json, in Node's words", () => {
    const { napi } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      napi: { targets: string[] };
    };
    expect(releaseTargets().map(({ triple }) => triple)).toEqual(napi.targets);
    expect(releaseTargets().map(({ platform }) => platform)).toEqual([
      "linux-x64-gnu",
      "linux-arm64-gnu",
      "linux-x64-musl",
      "linux-arm64-musl",
      "darwin-x64",
      "darwin-arm64",
    ]);
  });

  it("can be chosen by name, and a misspelt one is told", () => {
    expect(releaseTargets(["darwin-arm64"])).toMatchObject([{ triple: "aarch64-apple-darwin" }]);
    expect(() => releaseTargets(["linux-x64"])).toThrow(/no addon for linux-x64; .*linux-x64-gnu/u);
  });

  it.each(["x86_64-pc-windows-msvc", "riscv64gc-unknown-linux-gnu", "linux-x64-gnu"])(
    "%s is no target",
    (triple) => expect(() => parseTarget(triple)).toThrow(triple),
  );
});

describe("the Node that tries an addon", () => {
  it("is this one on this machine's own platform", () => {
    expect(nodeCommand(releaseTargets([platformName()])[0]!)).toEqual([process.execPath]);
  });

  it("does not exist for a system that this machine cannot run", () => {
    const foreign = process.platform === "darwin" ? "x86_64-unknown-linux-musl" : "x86_64-apple-darwin";
    expect(nodeCommand(parseTarget(foreign))).toBeUndefined();
  });
});

describe("addons for Linux", () => {
  const gnu = parseTarget("aarch64-unknown-linux-gnu");
  const musl = parseTarget("x86_64-unknown-linux-musl");
  const ARM64 = "AArch64";
  const X64 = "Advanced Micro Devices X86-64";
  /** What `readelf` prints of an addon, as far as it is read. */
  const elf = (machine: string, libraries: string[], versions: string[], sections: string[] = []): string =>
    [
      `  Machine:                           ${machine}`,
      ...[".dynsym", ...sections].map((name, i) => `  [ ${i + 1}] ${name}           PROGBITS        0000`),
      ...libraries.map((name) => ` 0x0000000000000001 (NEEDED)             Shared library: [${name}]`),
      ...versions.map((name) => `  0x0010:   Name: ${name}  Flags: none  Version: 2`),
    ].join("\n");

  it("passes one with old symbols and with glibc's own libraries", () => {
    const libraries = ["libc.so.6", "libpthread.so.0", "ld-linux-aarch64.so.1"];
    expect(inspectElf(elf(ARM64, libraries, ["GLIBC_2.4", "GLIBC_2.17"]), gnu)).toEqual({
      problems: [],
      description: "needs libc.so.6, libpthread.so.0, ld-linux-aarch64.so.1; glibc 2.17",
    });
    expect(inspectElf(elf(X64, ["libc.so"], []), musl).problems).toEqual([]);
  });

  const cases: Record<string, readonly [typeof gnu, string, RegExp]> = {
    "for another processor": [gnu, elf(X64, ["libc.so.6"], ["GLIBC_2.17"]), /not for AArch64/u],
    "with newer symbols": [
      gnu,
      elf(ARM64, ["libc.so.6"], ["GLIBC_2.34", "GLIBC_2.4"]),
      /needs glibc 2\.34, and 2\.17 has to be enough/u,
    ],
    "with a number of three parts": [gnu, elf(ARM64, ["libc.so.6"], ["GLIBC_2.17.1"]), /glibc 2\.17\.1/u],
    "without versions": [gnu, elf(ARM64, ["libc.so.6"], []), /no versions/u],
    "with the compiler's library": [
      gnu,
      elf(ARM64, ["libgcc_s.so.1", "libc.so.6"], ["GLIBC_2.17"]),
      /needs libgcc_s\.so\.1, which/u,
    ],
    "for glibc instead of musl": [musl, elf(X64, ["libc.so.6"], []), /needs libc\.so\.6, which/u],
    "with symbols of glibc": [musl, elf(X64, ["libc.so"], ["GLIBC_2.17"]), /needs glibc 2\.17/u],
    "with a C library of its own": [musl, elf(X64, [], []), /needs no C library/u],
    "that is not stripped": [
      musl,
      elf(X64, ["libc.so"], [], [".debug_info", ".symtab"]),
      /\.debug_info, \.symtab/u,
    ],
  };
  it.each(Object.entries(cases))("refuses one %s", (_, [target, text, problem]) => {
    expect(inspectElf(text, target).problems).toEqual([expect.stringMatching(problem)]);
  });
});

const SYSTEM_LIBRARY = "/usr/lib/libSystem.B.dylib";
const ARM64_MAC = 0x0100_000c;
const macos = (major: number, minor = 0): number => (major << 16) | (minor << 8);

/** An addon for macOS of a few hundred bytes. `symbols` are the types of its symbols. */
function machO({
  cpu = ARM64_MAC,
  name = INSTALL_NAME,
  library = SYSTEM_LIBRARY,
  version = macos(11),
  symbols = [0x0f],
  signed = true,
} = {}): Buffer {
  const words = (...values: number[]): Buffer => {
    const made = Buffer.alloc(values.length * 4);
    for (const [i, value] of values.entries()) made.writeUInt32LE(value >>> 0, i * 4);
    return made;
  };
  const named = (command: number, text: string): Buffer => {
    const bytes = Buffer.alloc(Math.ceil((text.length + 1) / 8) * 8);
    bytes.write(text);
    return Buffer.concat([words(command, 24 + bytes.length, 24, 0, 0, 0), bytes]);
  };
  const commands = [named(0xd, name), named(0xc, library), words(0x32, 24, 1, version, version, 0)];
  const dataStart = 32 + Buffer.concat(commands).length + 24 + (signed ? 16 : 0);
  const dataEnd = dataStart + symbols.length * 16;
  commands.push(words(0x2, 24, dataStart, symbols.length, 0, 0));
  if (signed) commands.push(words(0x1d, 16, dataEnd, 0));
  const header = words(0xfeed_facf, cpu, 0, 6, commands.length, Buffer.concat(commands).length, 0, 0);
  const table = symbols.map((type) => words(0, type, 0, 0));
  const code = Buffer.concat([header, ...commands, ...table]);
  return signed ? Buffer.concat([code, signature(code)]) : code;
}

/** A signature by nobody in particular: the hashes of all pages. */
function signature(code: Buffer): Buffer {
  const pages = Math.ceil(code.length / 4096);
  const made = Buffer.alloc(20 + 44 + pages * 32);
  const words = [0xfade_0cc0, made.length, 1, 0, 20];
  const directory = [0xfade_0c02, made.length - 20, 0x2_0400, 2, 44, 0, 0, pages, code.length];
  for (const [i, value] of [...words, ...directory].entries()) made.writeUInt32BE(value, i * 4);
  made.set([32, 2, 0, 12], 20 + 36);
  for (let i = 0; i < pages; i++) {
    createHash("sha256")
      .update(code.subarray(i * 4096, (i + 1) * 4096))
      .digest()
      .copy(made, 64 + i * 32);
  }
  return made;
}

describe("addons for macOS", () => {
  const target = parseTarget("aarch64-apple-darwin");

  it("passes one that is signed and has nothing of the machine that built it", () => {
    expect(inspectMachO(machO(), target)).toEqual({
      problems: [],
      description: `needs ${SYSTEM_LIBRARY}; macOS 11.0`,
    });
  });

  it("passes one for Intel's processors that is not signed", () => {
    const file = machO({ cpu: 0x0100_0007, signed: false });
    expect(inspectMachO(file, parseTarget("x86_64-apple-darwin")).problems).toEqual([]);
  });

  const cases: Record<string, readonly [Buffer, RegExp]> = {
    "for another system": [Buffer.from("\u007fELF"), /no program of macOS/u],
    "for another processor": [machO({ cpu: 0x0100_0007 }), /another processor/u],
    "with the path of its build as its name": [machO({ name: "/src/a.dylib" }), /named \/src\/a\.dylib/u],
    "for newer systems only": [machO({ version: macos(15, 1) }), /macOS 15\.1, not for 11\.0/u],
    "with a library that others lack": [
      machO({ library: "/opt/lib/b.dylib" }),
      /needs \/opt\/lib\/b\.dylib/u,
    ],
    "that is not stripped": [machO({ symbols: [0x0f, 0x0e, 0x24] }), /2 local symbols/u],
    "that is not signed": [machO({ signed: false }), /not signed/u],
    "changed after it was signed": [
      Buffer.concat([machO().subarray(0, -1), Buffer.alloc(1)]),
      /another hash/u,
    ],
  };
  it.each(Object.entries(cases))("refuses one %s", (_, [file, problem]) => {
    expect(inspectMachO(file, target).problems).toEqual([expect.stringMatching(problem)]);
  });
});

test("the table of a rehearsal has a row for each platform, and the errors below it", () => {
  const addon = { file: "", bytes: 7_860_000, packedBytes: 3_300_000, seconds: 61, description: "" };
  const trial = {
    ...{ node: "v24.19.0", contract: { passed: 83, cases: 83 }, uses: { passed: 5, cases: 5 } },
    ...{ engine: "native", resolver: "walk", kernel: "none", seconds: 3, failures: [] },
  };
  expect(
    rehearsalTable([
      { platform: "linux-arm64-gnu", addon, trial },
      { platform: "darwin-x64", addon },
      { platform: "linux-x64-gnu", error: "needs glibc 2.34" },
    ]),
  ).toMatchInlineSnapshot(`
    "| platform | size | packed | build | tried |
    |---|---|---|---|---|
    | linux-arm64-gnu | 7.86 MB | 3.30 MB | 61 s | 83 of 83 contract, 5 of 5 uses; v24.19.0, walk, Landlock none |
    | darwin-x64 | 7.86 MB | 3.30 MB | 61 s | no, it is only linked and checked |
    | linux-x64-gnu | | | | FAILED |

    error: needs glibc 2.34"
  `);
});
