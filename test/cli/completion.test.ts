/** The completion scripts, each run by its own shell where the machine has it. */
import { execFile, spawnSync } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../js/cli/commands.ts";
import { atTerminal, hasTerminal, type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({ "alpha.txt": "a\n", "undo/x": "x\n" });
  for (const shell of ["bash", "zsh", "fish"]) {
    await writeFile(join(at.root, `.completion.${shell}`), (await at.run(["completion", shell])).out);
  }
});
afterAll(() => at.remove());

const has = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;

/** The words that fish would offer for a line. */
async function byFish(line: string): Promise<readonly string[]> {
  const script = `source .completion.fish; complete -C ${JSON.stringify(line)}`;
  const { stdout } = await promisify(execFile)("fish", ["--no-config", "-c", script], { cwd: at.root });
  return stdout
    .split("\n")
    .map((offer) => offer.split("\t", 1)[0] as string)
    .filter((word) => word !== "");
}

/** Options and their values as the help shows them: a list that a person reads is one that is completed. */
test("every list of the help is in the script", async () => {
  const script = (await at.run(["completion", "bash"])).out;
  const lists = COMMANDS.flatMap(({ name, help }) =>
    help.flatMap(([usage]) => {
      const [, option, list] = /--([\w-]+) ([a-z_]+(?:\|[a-z_]+)+)/u.exec(usage) ?? [];
      return list === undefined ? [] : [`"${name} --${option}") values="${list.replaceAll("|", " ")}" ;;`];
    }),
  );
  expect(lists.length).toBeGreaterThan(10);
  for (const line of lists) expect(script).toContain(line);
});

test.skipIf(!has("bash"))("bash completes the value behind = too", async () => {
  // Bash parts the words of a line at =.
  expect(await byBash("filewright grep --rank = re")).toEqual(["recent"]);
  expect(await byBash("filewright grep --rank =")).toEqual(["path", "definitions", "recent"]);
});

/** The words that bash would offer for a line; those of the line have no blanks. */
async function byBash(line: string): Promise<readonly string[]> {
  const words = line.split(" ");
  const script = `source .completion.bash; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
    COMP_CWORD=${words.length - 1}; _filewright; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", script], { cwd: at.root });
  return stdout.split("\n").filter((word) => word !== "");
}

/** The words that zsh would offer for a line: at a terminal, since it completes nowhere else. */
async function byZsh(line: string): Promise<readonly string[]> {
  // Every offer is made by compadd, which tells with -O the words that fit what was typed.
  const setup = `autoload -Uz compinit; compinit -u -D; source ./.completion.zsh
compadd() {
  local -a fitting; local asked="\${@[1,(i)(-|--)]}"
  [[ "$asked" == *-[OAD]" "* ]] || { builtin compadd -O fitting "$@"; print -rl -- $fitting >> .offers }
  builtin compadd "$@"
}
`;
  await writeFile(join(at.root, ".setup.zsh"), setup);
  await rm(join(at.root, ".offers"), { force: true });
  await atTerminal(["zsh", "-f", "-i"], {
    cwd: at.root,
    env: { TERM: "dumb", PS1: "> " },
    steps: [
      { wait: "> ", send: "source ./.setup.zsh; echo 'rea''dy'\n" },
      { wait: "ready" },
      { wait: "> ", send: `${line}\t\u0015exit\n` },
    ],
  });
  const offered = await readFile(join(at.root, ".offers"), "utf8").catch(() => "");
  return [...new Set(offered.split("\n").filter((word) => word.trim() !== ""))];
}

/** The options by which a shell reads no settings of the person who runs the test. */
const NO_SETTINGS = { bash: ["--norc"], zsh: ["-f"], fish: ["--no-config"] } as const;

const shells = ["bash", "zsh", "fish", "powershell"] as const;
test.each(shells)("the script for %s is one that it reads", async (shell) => {
  const { out, status } = await at.run(["completion", shell]);
  expect(status).toBe(0);
  for (const { name } of COMMANDS) expect(out).toContain(name);
  const reads =
    shell === "powershell"
      ? spawnSync("pwsh", ["-NoProfile", "-Command", "[scriptblock]::Create($input) | Out-Null"], {
          input: out,
        })
      : spawnSync(shell, [...NO_SETTINGS[shell], "-n", `.completion.${shell}`], { cwd: at.root });
  if (reads.error === undefined) expect(reads.status).toBe(0);
});

test("another shell is not known", async () => {
  expect((await at.run(["completion", "tcsh"])).status).toBe(2);
});

describe.each([
  ["bash", byBash, has("bash")],
  ["fish", byFish, has("fish")],
  ["zsh", byZsh, has("zsh") && hasTerminal],
] as const)("%s completes", (_shell, offers, exists) => {
  test.skipIf(!exists).each<[string, string, readonly string[]]>([
    ["commands", "filewright gr", ["grants", "grep"]],
    ["an option in place of a command", "filewright --v", ["--version"]],
    ["options", "filewright grep --smart", ["--smart-case"]],
    ["options of the command alone", "filewright grep delete --fo", []],
    ["paths", "filewright read al", ["alpha.txt"]],
    ["the commands that help explains", "filewright help gr", ["grants", "grep"]],
    ["the shells of completion", "filewright completion z", ["zsh"]],
    ["the values of an option", "filewright grep --rank ", ["definitions", "path", "recent"]],
    ["the values that begin so", "filewright ls --format j", ["json"]],
    ["presets", "filewright tools --preset gem", ["gemini", "gemini-cli"]],
    ["the presets of a server", "filewright mcp --preset l", ["lean"]],
    ["log levels", "filewright serve --log-level de", ["debug"]],
    ["clients", "filewright mcp --print-config c", ["claude-code", "claude-desktop", "codex", "cursor"]],
    ["a value of an option of every command", "filewright read --color al", ["always"]],
    ["paths behind an option without a list", "filewright read --encoding al", ["alpha.txt"]],
  ])("%s", async (_what, line, words) => {
    expect([...(await offers(line))].sort()).toEqual(words);
  });
});
