/**
 * `filewright completion`: prints scripts by which a shell completes command lines. They are generated from
 * the data of parsing and help, so that they always agree with the commands.
 */
import { LOG_LEVELS } from "../../mcp/protocol/log.ts";
import { CONFIG_BY_CLIENT } from "../../mcp/print-config.ts";
import { FILEWRIGHT_DEFAULTS } from "../../mcp/command.ts";
import { PRESET_NAMES } from "../../presets/index.ts";
import { type Command, globalOptionsOf, optionHelpOf } from "../command.ts";
import { printText } from "../streams.ts";
import { declaredOptions, type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";

/** The facts about one command for a completion script. */
interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
  /** The options whose values are a closed list, with that list. */
  readonly values: ValuesByOption;
  /** The possible positional arguments; undefined when these are paths. */
  readonly operands?: readonly string[];
}

/** For each option, such as `--color`, its possible values. */
type ValuesByOption = readonly (readonly [option: string, values: readonly string[]])[];

type MakeCompletionScript = (commands: readonly CompletedCommand[]) => string;

const MAKE_SCRIPT_BY_SHELL: Readonly<Record<string, MakeCompletionScript>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/** Creates the command. `commands` returns all commands. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    summary: "print a script that completes the command in bash, zsh, fish or PowerShell",
    usage: "filewright completion bash|zsh|fish|powershell",
    about: "Commands, their options, the values of options that have a list of them, and paths.",
    help: [],
    examples: [
      [`eval "$(filewright completion bash)"`, "in ~/.bashrc"],
      [`source <(filewright completion zsh)`, "in ~/.zshrc, after compinit"],
      ["filewright completion fish > ~/.config/fish/completions/filewright.fish", "once"],
      ["filewright completion powershell >> $PROFILE", "once, in PowerShell"],
    ],
    takes: [1, 1],
    async run({ positionals }: ParsedCommandLine, shell) {
      const make = MAKE_SCRIPT_BY_SHELL[positionals[0] as string];
      if (make === undefined) throw new UsageError("completion takes bash, zsh, fish or powershell");
      printText(shell, make(withHelp(commands().map(toCompletedCommand))));
      return 0;
    },
  };
}

function toCompletedCommand(command: Command): CompletedCommand {
  const { name, summary } = command;
  const shared = globalOptionsOf(command).map((option) => `--${option}`);
  const flags = declaredOptions(command.help).flatMap((option) => [
    `--${option.name}`,
    ...(option.short === undefined ? [] : [`-${option.short}`]),
  ]);
  const own = { name, summary, flags: [...new Set([...flags, ...shared])], values: closedValuesOf(command) };
  return name === "completion" ? { ...own, operands: Object.keys(MAKE_SCRIPT_BY_SHELL) } : own;
}

/** Lists of values that the help does not show because they are too long. */
const LONG_VALUE_LIST_BY_OPTION: Readonly<Record<string, (command: Command) => readonly string[]>> = {
  preset: ({ sort }) => [...(sort === "own" ? [FILEWRIGHT_DEFAULTS.preset] : []), ...PRESET_NAMES],
  "print-config": () => Object.keys(CONFIG_BY_CLIENT),
  "log-level": () => LOG_LEVELS,
};

/**
 * Returns the options of a command whose values are a closed list: those that the help shows as
 * `--name one|another`, and those of `LONG_VALUE_LIST_BY_OPTION`.
 */
function closedValuesOf(command: Command): ValuesByOption {
  return declaredOptions(optionHelpOf(command)).flatMap(({ name, value = "" }) => {
    const shown = /^[a-z_]+(?:\|[a-z_]+)+$/u.test(value) ? value.split("|") : [];
    const values = LONG_VALUE_LIST_BY_OPTION[name]?.(command) ?? shown;
    return values.length === 0 ? [] : [[`--${name}`, values] as const];
  });
}

/** Adds `help`, which is not in the list of commands because it takes the name of one. */
function withHelp(commands: readonly CompletedCommand[]): readonly CompletedCommand[] {
  const operands = commands.map(({ name }) => name);
  const help = {
    name: "help",
    summary: "tell how a command is used",
    flags: ["--help"],
    values: [],
    operands,
  };
  return [...commands, help];
}

/** The options that can be given instead of a command. */
const OPTIONS_WITHOUT_COMMAND = ["--help", "--version"];

function bashScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(
    ({ name, flags, operands = [] }) =>
      `    ${name}) flags="${flags.join(" ")}" operands="${operands.join(" ")}" ;;`,
  );
  const lists = commands.flatMap(({ name, values }) =>
    values.map(([option, words]) => `    "${name} ${option}") values="${words.join(" ")}" ;;`),
  );
  const first = [...commands.map(({ name }) => name), ...OPTIONS_WITHOUT_COMMAND];
  return `# Completion of filewright for bash.
_filewright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local flags="" operands="" values=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${first.join(" ")}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  # Bash gives --option=value as three words.
  if [ "$current" = "=" ]; then
    current=""
  elif [ "$previous" = "=" ]; then
    previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  case "\${COMP_WORDS[1]} $previous" in
${lists.join("\n")}
  esac
  if [ -n "$values" ]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [ "\${current:0:1}" = "-" ]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [ -n "$operands" ]; then
    COMPREPLY=($(compgen -W "$operands" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -F _filewright filewright`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const quoted = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
  const names = commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const cases = commands.map(
    ({ name, flags, operands = [] }) =>
      `    ${name}) flags=(${flags.join(" ")}) operands=(${operands.join(" ")}) ;;`,
  );
  const lists = commands.flatMap(({ name, values }) =>
    values.map(([option, words]) => `    "${name} ${option}") values=(${words.join(" ")}) ;;`),
  );
  return `#compdef filewright
_filewright() {
  local -a commands flags operands values
  local option
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    if [[ "$PREFIX" == -* ]]; then
      compadd -- ${OPTIONS_WITHOUT_COMMAND.join(" ")}
    else
      _describe command commands
    fi
    return
  fi
  case "$words[2]" in
${cases.join("\n")}
  esac
  option="$words[CURRENT-1]"
  if [[ "$PREFIX" == --*=* ]]; then
    option="\${PREFIX%%=*}"
    compset -P '*='
  fi
  case "$words[2] $option" in
${lists.join("\n")}
  esac
  if (( $#values )); then
    compadd -- $values
  elif [[ "$PREFIX" == -* ]]; then
    compadd -- $flags
  elif (( $#operands )); then
    compadd -- $operands
  else
    _files
  fi
}
compdef _filewright filewright`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const quoted = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  const switchOf = (flag: string): string =>
    flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
  const lines = commands.flatMap(({ name, summary, flags, values, operands }) => {
    const listed = new Map(values);
    const takes = (flag: string): string => {
      const words = listed.get(flag);
      return words === undefined ? "" : ` -x -a '${words.join(" ")}'`;
    };
    const rule = `complete -c filewright -n '__filewright_runs ${name}'`;
    return [
      `complete -c filewright -f -n '__filewright_runs' -a ${name} -d '${quoted(summary)}'`,
      ...(operands === undefined ? [] : [`${rule} -f -a '${operands.join(" ")}'`]),
      ...flags.map((flag) => `${rule} ${switchOf(flag)}${takes(flag)}`),
    ];
  });
  return [
    "# Completion of filewright for fish.",
    // fish's own test looks at every word: a file with the name of a command would count.
    "function __filewright_runs -d 'True where this command is given, or none yet'",
    "  set -l words (commandline -opc)",
    '  test "$words[2]" = "$argv[1]"',
    "end",
    ...OPTIONS_WITHOUT_COMMAND.map(
      (flag) => `complete -c filewright -n '__filewright_runs' ${switchOf(flag)}`,
    ),
    ...lines,
  ].join("\n");
}

function powershellScript(commands: readonly CompletedCommand[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const listed = (words: readonly string[]): string => `@(${words.map(quoted).join(", ")})`;
  const table = (values: ValuesByOption): string =>
    `@{${values.map(([option, words]) => `${quoted(option)} = ${listed(words)}`).join("; ")}}`;
  const rows = commands.map(
    ({ name, summary, flags, values, operands = [] }) =>
      `    ${quoted(name)} = @(${[quoted(summary), listed(flags), listed(operands), table(values)].join(", ")})`,
  );
  return `# Completion of filewright for PowerShell.
Register-ArgumentCompleter -Native -CommandName filewright -ScriptBlock {
  param($word, $ast, $position)
  $commands = [ordered]@{
${rows.join("\n")}
  }
  $words = @($ast.CommandElements | ForEach-Object { $_.ToString() })
  if ($words.Count -lt 2 -or ($words.Count -eq 2 -and $word -ne '')) {
    $commands.Keys | Where-Object { $_ -like "$word*" } | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_, $_, 'Command', $commands[$_][0])
    }
    return
  }
  $option = if ($word -eq '') { $words[-1] } else { $words[-2] }
  $before = ''
  if ($word -match '^(--[^=]+)=(.*)$') {
    $option = $Matches[1]
    $before = "$option="
    $word = $Matches[2]
  }
  if ($commands.Contains($words[1]) -and $commands[$words[1]][3].Contains($option)) {
    $commands[$words[1]][3][$option] | Where-Object { $_ -like "$word*" } | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new("$before$_", $_, 'ParameterValue', $_)
    }
  } elseif ($word -like '-*' -and $commands.Contains($words[1])) {
    $commands[$words[1]][1] | Where-Object { $_ -clike "$word*" } | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterName', $_)
    }
  } elseif ($commands.Contains($words[1])) {
    $commands[$words[1]][2] | Where-Object { $_ -like "$word*" } | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
  }
}`;
}
