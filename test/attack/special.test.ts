/** Attacks by what stands where a file is expected, and by sheer size. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createServer } from "node:net";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { LocalBackend, openWorkspace } from "../../js/index.node.ts";
import { isNight } from "../support/share.ts";
import { BASE } from "./race.ts";
import { type Arm, ARMS, diskOf, type Row, runRows, type Step, world } from "./world.ts";

const NOT_REGULAR = "NOT_REGULAR_FILE";
const fifo = { special: "fifo" } as const;

/** Every tool that opens contents. */
const opens = (path: string): readonly Step[] => [
  ["read_file", { path }, NOT_REGULAR],
  ["read_file", { path, force_text: true }, NOT_REGULAR],
  ["edit_file", { path, old_text: "a", new_text: "b" }, NOT_REGULAR],
  ["apply_patch", { path, patch: "@@ -1 +1 @@\n-a\n+b\n" }, NOT_REGULAR],
  ["diff", { a: path, b: "f" }, NOT_REGULAR],
  ["grep", { pattern: "x", path }, NOT_REGULAR],
  ["copy", { source: path, destination: "copied" }, NOT_REGULAR],
  ["stat", { path, hash: true }, [NOT_REGULAR, "OK"]],
];
const writes = (path: string): readonly Step[] => [
  ["write_file", { path, content: "x" }, NOT_REGULAR],
  ["write_file", { path, content: "x", append: true }, NOT_REGULAR],
];

const ROWS: readonly Row[] = [
  {
    n: 56,
    title: "a pipe is not read, and nobody waits for its writer",
    disk: true,
    seed: { p: fifo, l: { link: "p" } },
    steps: [...opens("p"), ...opens("l")],
  },
  {
    n: 58,
    title: "nor written",
    disk: true,
    seed: { p: fifo, l: { link: "p" } },
    steps: [...writes("p"), ...writes("l")],
  },
  {
    n: 56,
    title: "walks pass over pipes",
    disk: true,
    seed: { "t/p": fifo, "t/g": "needle\n" },
    steps: [
      [
        "grep",
        { pattern: "needle", path: "t" },
        (result) => expect(result).toMatchObject({ ok: true, data: { total_matches: 1 } }),
      ],
      ["read_many_files", { paths: ["t"] }, "OK"],
      ["list_directory", { path: "t" }, (result) => expect(result.text).toContain("[OTHER] p")],
      ["copy", { source: "t", destination: "u" }, "OK"],
      ["delete", { path: "t", recursive: true }, "OK"],
    ],
  },
  {
    n: 67,
    title: "a regular expression that others never finish",
    seed: { big: "a".repeat(500_000) },
    steps: [
      ["grep", { pattern: "(a+)+$" }, "OK"],
      ["grep", { pattern: "(a|aa)+b" }, "OK"],
    ],
  },
  {
    n: 68,
    title: "a regular expression of 10 MB, and one that unfolds",
    steps: [
      ["grep", { pattern: "a".repeat(10_000_000) }, "LIMIT_EXCEEDED"],
      ["grep", { pattern: "\\w{1000}{1000}" }, "LIMIT_EXCEEDED"],
      ["grep", { pattern: `${"(".repeat(5000)}a${")".repeat(5000)}` }, "LIMIT_EXCEEDED"],
    ],
  },
  {
    n: 69,
    title: "a glob that would unfold into a billion is not unfolded, and one without bottom is none",
    seed: { [`x/${"ab".repeat(15)}`]: "one of the billion" },
    steps: [
      [
        "glob",
        { pattern: `x/${"{a,b}".repeat(30)}` },
        (result) => expect(result).toMatchObject({ ok: true, data: { matches: [`x/${"ab".repeat(15)}`] } }),
      ],
      ["glob", { pattern: `${"{".repeat(2000)}a${"}".repeat(2000)}` }, "INVALID_GLOB"],
      ["grep", { pattern: "x", glob: `${"{a,b,".repeat(40)}c${"}".repeat(40)}` }, "OK"],
    ],
  },
];

runRows(ROWS);

const disks = ARMS.filter((arm) => arm.disk);
/** The depth of a deep tree. The disk without the addon goes through all directories for each, so by day it has half. */
const depthOf = ({ resolver }: Arm): number => (resolver === "node" && !isNight ? 250 : 500);

describe.each(disks)("$name", (arm) => {
  test("a hundred calls on pipes delay no other call", async () => {
    const at = await world(arm, { p: fifo });
    const stuck = Array.from({ length: 100 }, (_, n) =>
      n % 2 === 0
        ? at.ws.call("read_file", { path: "p" })
        : at.ws.call("write_file", { path: "p", content: "x" }),
    );
    expect(await at.ws.call("read_file", { path: "f" })).toMatchObject({ ok: true });
    for (const result of await Promise.all(stuck))
      expect(result).toMatchObject({ error: { code: NOT_REGULAR } });
  });

  test("a socket and a device are refused by what they are", async () => {
    const at = await world(arm);
    const server = createServer().listen(at.at("s"));
    await once(server, "listening");
    const paths = ["s"];
    if (process.getuid?.() === 0) {
      execFileSync("mknod", [at.at("zero"), "c", "1", "5"]);
      paths.push("zero");
    }
    for (const path of paths) {
      for (const [tool, args, expected] of [...opens(path), ...writes(path)]) {
        const result = await at.ws.call(tool, args);
        expect([expected].flat(), `${tool} ${path}: ${result.text}`).toContain(
          result.ok ? "OK" : result.error.code,
        );
      }
    }
    server.close();
  });

  test("files of a system without sizes are read to their end, and memory of processes is not", async () => {
    const ws = await openWorkspace({ root: `/proc/${process.pid}`, backend: diskOf(arm) });
    const status = await ws.call("read_file", { path: "status" });
    expect(status.text).toContain("VmRSS");
    expect((await ws.call("read_file", { path: "mem" })).ok).toBe(false);
    expect((await ws.call("read_file", { path: "root/etc/passwd" })).ok).toBe(false);
    expect((await ws.call("read_file", { path: "fd/0" })).ok).toBe(false);
    await ws.close();
  });

  test("a file that grows while it is read ends where it ended at the beginning, and is told to be cut", async () => {
    const at = await world(arm, { log: "line of text\n".repeat(20_000) }, {}, BASE);
    const writer = spawn(process.execPath, [
      "-e",
      `const fs = require("node:fs"); const fd = fs.openSync(${JSON.stringify(at.at("log"))}, "a");
       console.log("ready"); setInterval(() => fs.writeSync(fd, "line of text\\n".repeat(100)), 1);`,
    ]);
    await once(writer.stdout, "data");
    try {
      const { hash } = (await at.ws.readFile({ path: "f" })) as { hash: string };
      for (let round = 0; round < 3; round += 1) {
        const page = await at.ws.call("read_file", { path: "log" });
        expect(page).toMatchObject({ ok: true, data: { truncated: true } });
        expect(page.text.length).toBeLessThan(200_000);
        for (const [tool, args, expected] of [
          ["grep", { pattern: "text", path: "log", max_results: 5 }, ["OK", "TOO_LARGE"]],
          [
            "copy",
            { source: "log", destination: "copied", overwrite: true },
            ["OK", "CONFLICT", "TOO_LARGE"],
          ],
          ["write_file", { path: "log", content: "x", expected_hash: hash }, ["CONFLICT"]],
        ] as const) {
          const result = await at.ws.call(tool, args);
          expect(expected, `${tool}: ${result.text.slice(0, 200)}`).toContain(
            result.ok ? "OK" : result.error.code,
          );
        }
      }
    } finally {
      writer.kill("SIGKILL");
      await once(writer, "close");
    }
    for (const line of (at.text("copied") ?? "").split("\n").slice(0, -1)) {
      if (!"line of text".startsWith(line)) expect(line).toBe("line of text");
    }
  });

  test("a file that others shorten and lengthen during a read crashes nothing", async () => {
    const at = await world(arm);
    const path = at.at("moving");
    let stop = false;
    const others = (async () => {
      for (let round = 0; !stop; round += 1) {
        await fs.promises.writeFile(path, `line of text ${round}\n`.repeat(20_000));
        await fs.promises.truncate(path, 10);
        await fs.promises.appendFile(path, "more\n".repeat(1000));
      }
    })();
    for (let round = 0; round < 20; round += 1) {
      const results = await Promise.all([
        at.ws.call("read_file", { path: "moving" }),
        at.ws.call("grep", { pattern: "line|more", path: "moving" }),
        at.ws.call("stat", { path: "moving", hash: true }),
      ]);
      for (const result of results) {
        const code = result.ok ? "OK" : result.error.code;
        expect(
          ["OK", "NOT_FOUND", "CONFLICT", "IO_ERROR", "BINARY_FILE"],
          result.text.slice(0, 200),
        ).toContain(code);
      }
    }
    stop = true;
    await others;
  });

  test("a file of five gigabytes without content costs neither time nor memory", async () => {
    const at = await world(arm);
    fs.writeFileSync(at.at("sparse"), "");
    fs.truncateSync(at.at("sparse"), 5 * 2 ** 30);
    const before = process.memoryUsage().rss;
    const calls: readonly Step[] = [
      ["read_file", { path: "sparse" }, ["BINARY_FILE", "TOO_LARGE"]],
      ["edit_file", { path: "sparse", old_text: "a", new_text: "b" }, ["BINARY_FILE", "TOO_LARGE"]],
      ["diff", { a: "sparse", b: "f" }, ["BINARY_FILE", "TOO_LARGE"]],
      ["grep", { pattern: "x", path: "sparse" }, "TOO_LARGE"],
      ["grep", { pattern: "x" }, "OK"],
      ["read_many_files", { paths: ["sparse"] }, "OK"],
    ];
    for (const [tool, args, expected] of calls) {
      const result = await at.ws.call(tool, args);
      expect([expected].flat(), `${tool}: ${result.text.slice(0, 200)}`).toContain(
        result.ok ? "OK" : result.error.code,
      );
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20);
    const part = await new LocalBackend().read(at.at("sparse"), {
      range: { start: 4 * 2 ** 30, end: 4 * 2 ** 30 + 10 },
    });
    expect(part?.bytes).toHaveLength(10);
  });

  test("a tree of hundreds of directories in each other is made, searched and removed", async () => {
    const at = await world(arm);
    const depth = depthOf(arm);
    const path = Array.from({ length: depth }, () => "d").join("/");
    expect(await at.ws.call("mkdir", { path })).toMatchObject({ ok: true });
    expect(await at.ws.call("write_file", { path: `${path}/f`, content: "deep" })).toMatchObject({
      ok: true,
    });
    expect(await at.ws.call("read_file", { path: `${path}/f` })).toMatchObject({
      ok: true,
      data: { content: "deep" },
    });
    for (const [tool, args] of [
      ["grep", { pattern: "deep" }],
      ["glob", { pattern: "**/f" }],
      ["list_directory", { path: ".", depth: 32 }],
    ] as const) {
      const result = await at.ws.call(tool, args);
      expect(result.ok, `${tool}: ${result.text.slice(0, 200)}`).toBe(true);
    }
    expect(await at.ws.call("delete", { path: "d", recursive: true })).toMatchObject({
      ok: true,
      data: { directories: depth, files: 1 },
    });
  });
});
