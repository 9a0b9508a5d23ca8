/** The local disk on every runtime that has one, from the packages as they are published. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { guideCommands } from "./guide.ts";
import { home, lastLine, prepare, program, run, SERVED } from "./prepare.ts";

const why = prepare();
const NODES = [
  ["node-20", "v20.19.0"],
  ["node-22", "v22.23.3"],
  ["node-24", "v24.21.0"],
] as const;
const FILES = ["server.mjs", "server.cjs"];

describe.for(NODES)("%s is %s", ([name, version]) => {
  it.for(FILES)("%s", (file, { skip }) => {
    const node = program(name) ?? skip(why ?? "npm has no such Node for this machine");
    expect(run(node, ["--version"]).stdout.trim()).toBe(version);
    expect(lastLine(run(node, [file]))).toEqual(SERVED);
    expect(lastLine(run(node, [file], { FILEWRIGHT_ENGINE: "wasm" }))).toEqual({ ...SERVED, kind: "wasm" });
  });
});

describe.for(FILES)("%s", (file) => {
  it("on the Node that runs the tests", () => {
    expect(lastLine(run(process.execPath, [file]))).toEqual(SERVED);
  });

  it("on Bun", ({ skip }) => {
    const bun = program("bun") ?? skip(why ?? "npm has no Bun for this machine");
    expect(lastLine(run(bun, ["run", file]))).toEqual(SERVED);
  });

  it("on Deno, with the permissions that the guide names", ({ skip }) => {
    const deno = program("deno") ?? skip(why ?? "npm has no Deno for this machine");
    const [command = ""] = guideCommands("deno", "run");
    const args = command.split(" ").slice(1, -1);
    expect(lastLine(run(deno, [...args, file], { DENO_DIR: join(home, "deno") }))).toEqual(SERVED);
  });
});
