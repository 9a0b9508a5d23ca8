/**
 * `filewright completion`: scripts that complete the command in a shell. Generated from the data
 * of parsing and help, so that they are always current.
 */
import { type Command, sharedOptions } from "../command.ts";
import { print } from "../output.ts";
import { type Parsed, UsageError } from "../../schema/command-line.node.ts";

/** The data for a script. */
interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
  /** The words that it takes; paths where absent. */
  readonly operands?: readonly string[];
}

type Make = (commands: readonly Completed[]) => string;

const SHELLS: Readonly<Record<string, Make>> = { bash, zsh, fish, powershell };

/** The command. `commands` are all of them. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    summary: "print a script that completes the command in bash, zsh, fish or PowerShell",
    usage: "filewright completion bash|zsh|fish|powershell",
    about: "Commands, their options, and paths.",
    options: {},
    help: [],
    examples: [
      [`eval "$(filewright completion bash)"`, "in ~/.bashrc"],
      [`source <(filewright completion zsh)`, "in ~/.zshrc, after compinit"],
      ["filewright completion fish > ~/.config/fish/completions/filewright.fish", "once"],
      ["filewright completion powershell >> $PROFILE", "once, in PowerShell"],
    ],
    takes: [1, 1],
    async run({ positionals }: Parsed) {
      const make = SHELLS[positionals[0] as string];
      if (make === undefined) throw new UsageError("completion takes bash, zsh, fish or powershell");
      print(make(withHelp(commands().map(completed))));
      return 0;
    },
  };
}

function completed(command: Command): Completed {
  const { name, summary, options } = command;
  const shared = sharedOptions(command).map((option) => `--${option}`);
  const flags = Object.entries(options).flatMap(([long, { short }]) => [
    `--${long}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
  const own = { name, summary, flags: [...new Set([...flags, ...shared])] };
  return name === "completion" ? { ...own, operands: Object.keys(SHELLS) } : own;
}

/** Adds `help`, which is no command of the table, since it takes the name of one. */
function withHelp(commands: readonly Completed[]): readonly Completed[] {
  const operands = commands.map(({ name }) => name);
  return [...commands, { name: "help", summary: "tell how a command is used", flags: ["--help"], operands }];
}

/** The options that stand for a command. */
const INSTEAD = ["--help", "--version"];

function bash(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, flags, operands = [] }) =>
      `    ${name}) flags="${flags.join(" ")}" operands="${operands.join(" ")}" ;;`,
  );
  const first = [...commands.map(({ name }) => name), ...INSTEAD];
  return `# Completion of filewright for bash.
_filewright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" flags="" operands=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${first.join(" ")}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  if [ "\${current:0:1}" = "-" ]; then
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

function zsh(commands: readonly Completed[]): string {
  const quoted = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
  const names = commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const cases = commands.map(
    ({ name, flags, operands = [] }) =>
      `    ${name}) flags=(${flags.join(" ")}) operands=(${operands.join(" ")}) ;;`,
  );
  return `#compdef filewright
_filewright() {
  local -a commands flags operands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    if [[ "$PREFIX" == -* ]]; then
      compadd -- ${INSTEAD.join(" ")}
    else
      _describe command commands
    fi
    return
  fi
  case "$words[2]" in
${cases.join("\n")}
  esac
  if [[ "$PREFIX" == -* ]]; then
    compadd -- $flags
  elif (( $#operands )); then
    compadd -- $operands
  else
    _files
  fi
}
compdef _filewright filewright`;
}

function fish(commands: readonly Completed[]): string {
  const quoted = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  const switchOf = (flag: string): string =>
    flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
  const lines = commands.flatMap(({ name, summary, flags, operands }) => {
    const rule = `complete -c filewright -n '__filewright_runs ${name}'`;
    return [
      `complete -c filewright -f -n '__filewright_runs' -a ${name} -d '${quoted(summary)}'`,
      ...(operands === undefined ? [] : [`${rule} -f -a '${operands.join(" ")}'`]),
      ...flags.map((flag) => `${rule} ${switchOf(flag)}`),
    ];
  });
  return [
    "# Completion of filewright for fish.",
    // fish's own test looks at every word: a file with the name of a command would count.
    "function __filewright_runs -d 'True where this command is given, or none yet'",
    "  set -l words (commandline -opc)",
    '  test "$words[2]" = "$argv[1]"',
    "end",
    ...INSTEAD.map((flag) => `complete -c filewright -n '__filewright_runs' ${switchOf(flag)}`),
    ...lines,
  ].join("\n");
}

function powershell(commands: readonly Completed[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const listed = (words: readonly string[]): string => `@(${words.map(quoted).join(", ")})`;
  const rows = commands.map(
    ({ name, summary, flags, operands = [] }) =>
      `    ${quoted(name)} = @(${[quoted(summary), listed(flags), listed(operands)].join(", ")})`,
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
  if ($word -like '-*' -and $commands.Contains($words[1])) {
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
