/** The help of every command and what it really takes are the same options. */
import { expect, test } from "vitest";
import { GLOBAL_OPTIONS, globalOptionsOf, optionsOf } from "../../js/cli/command.ts";
import { COMMANDS } from "../../js/cli/commands.ts";
import { helpOfCommand } from "../../js/cli/help.ts";

test.each(COMMANDS.map((command) => [command.name, command] as const))(
  "%s --help names every option that it takes, and no other",
  (_name, command) => {
    const shared = globalOptionsOf(command).map((name) => [name, GLOBAL_OPTIONS[name]]);
    const taken: Record<string, { short?: string }> = {
      ...optionsOf(command),
      ...Object.fromEntries(shared),
    };
    const options = helpOfCommand(command).split("\nOptions:\n")[1]?.split("\n\nExamples:")[0] ?? "";
    // The flags stand before two blanks, what they do behind them.
    const flags = options.split("\n").map((line) => line.trim().split(/ {2,}/u)[0] ?? "");
    const named = new Set(
      flags.flatMap((text) => [...text.matchAll(/--?[a-zA-Z][a-z-]*/gu)].map(([flag]) => flag)),
    );
    const known = new Set(
      Object.entries(taken).flatMap(([name, { short }]: [string, { short?: string }]) =>
        short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`],
      ),
    );
    for (const flag of named) expect(known, `${flag} is in the help and not taken`).toContain(flag);
    for (const [name, { short }] of Object.entries(taken) as [string, { short?: string }][])
      expect(named.has(`--${name}`) || named.has(`-${short}`), `--${name} is taken and not in the help`).toBe(
        true,
      );
  },
);
