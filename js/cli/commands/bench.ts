/** `filewright bench`: measures the times of calls on this machine, in a given directory. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "../command.ts";
import { assertNarrowRoot } from "../command.ts";
import type { Shell } from "../person/style.ts";
import { printText, printJson, formatTable, widthOfOutput } from "../streams.ts";
import { type ParsedCommandLine, UsageError, parseIntegerOption } from "../../schema/command-line.node.ts";

const BENCH_ROUNDS = 20;

/** The command `runBench`. */
export const BENCH_COMMAND: Command = {
  name: "bench",
  summary: "measure the time of calls here",
  usage: "filewright bench [DIR] [--rounds N]",
  about:
    "Runs common calls on DIR, which is only read, and edits in a temporary directory. Prints the median and the longest time of each. `npm run bench` of a checkout compares with other tools.",
  help: [["--rounds N", `the number of rounds (${BENCH_ROUNDS})`]],
  examples: [["filewright bench ~/project", "on another directory"]],
  takes: [0, 1],
  run: runBench,
};

async function runBench(parsed: ParsedCommandLine, shell: Shell): Promise<number> {
  const { positionals, values } = parsed;
  const rounds = parseIntegerOption(values["rounds"], "rounds") ?? BENCH_ROUNDS;
  if (rounds < 1) throw new UsageError("--rounds must be 1 or more");
  const named = positionals[0] ?? String(values["root"] ?? ".");
  assertNarrowRoot(named, parsed);
  const dir = resolve(named);
  const scratch = await realpath(await mkdtemp(join(tmpdir(), "filewright-bench-")));
  const file = join(scratch, "file.txt");
  await writeFile(file, Array.from({ length: 2000 }, (_, n) => `line ${n}`).join("\n"));
  // The help must not load an engine.
  const { openWorkspace } = await import("../../workspace/index.node.ts");
  const ws = await openWorkspace({ roots: [{ path: dir, access: "read" }, scratch], history: false });
  let flip = 0;
  const calls: readonly (readonly [what: string, tool: string, args: () => Record<string, unknown>])[] = [
    ["stat a file", "stat", () => ({ path: file })],
    ["read 2,000 lines", "read_file", () => ({ path: file })],
    ["list the directory", "list_directory", () => ({ path: "." })],
    ["glob **/*", "glob", () => ({ pattern: "**/*", limit: 100_000 })],
    ["grep a word", "grep", () => ({ pattern: "TODO", max_results: 1000 })],
    ["write 4 KB", "write_file", () => ({ path: join(scratch, "w.txt"), content: "x".repeat(4096) })],
    [
      "edit one of 2,000 lines",
      "edit_file",
      () => ({
        path: file,
        old_text: flip++ % 2 === 0 ? "line 1000\n" : "LINE 1000\n",
        new_text: flip % 2 === 1 ? "LINE 1000\n" : "line 1000\n",
      }),
    ],
  ];
  const rows: { call: string; middle_ms: number; worst_ms: number }[] = [];
  try {
    for (const [what, tool, args] of calls) {
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const given = args();
        const began = performance.now();
        const result = await ws.call(tool, given);
        times.push(performance.now() - began);
        if (!result.ok) throw new UsageError(`${what}: ${result.text}`);
      }
      times.sort((a, b) => a - b);
      rows.push({ call: what, middle_ms: times[times.length >> 1] ?? 0, worst_ms: times.at(-1) ?? 0 });
    }
  } finally {
    await ws.close();
    await rm(scratch, { recursive: true, force: true });
  }
  if (values["json"] === true) printJson(shell, { dir, rounds, rows });
  else
    printText(
      shell,
      formatTable(
        [
          ["call", "middle", "worst"],
          ...rows.map((row) => [row.call, `${row.middle_ms.toFixed(2)} ms`, `${row.worst_ms.toFixed(2)} ms`]),
        ],
        widthOfOutput(shell),
      ),
    );
  return 0;
}
