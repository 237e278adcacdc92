// `trustflow completion`: a script that completes commands, options and their choices in a shell. It is made of the commands
// themselves, and needs no call of ours at each Tab.
import { Argument, type Command, type Option } from "commander";
import { addCommand } from "./command.js";
import { printPieces, writeJson } from "./output/output.js";

/** A command, as its path from the root: `trustflow callbacks list`. */
interface Completed {
  path: string;
  options: CompletedOption[];
  /** Each with its summary. */
  commands: [name: string, summary: string][];
  /** What its arguments may be, if that is a list. */
  choices: string[];
}

interface CompletedOption {
  /** `--phase`. */
  name: string;
  takesValue: boolean;
  choices: readonly string[];
  description: string;
}

const shells = { bash, zsh, fish };
type Shell = keyof typeof shells;

export function addCompletion(program: Command): void {
  addCommand(program, "completion", {
    summary: "print a script that completes commands and options in a shell",
    details: `Write it again after an upgrade.
In zsh the folder, here ~/.zfunc, has to be in $fpath before compinit runs.`,
    example: `trustflow completion bash > ~/.local/share/bash-completion/completions/trustflow
trustflow completion zsh > ~/.zfunc/_trustflow
trustflow completion fish > ~/.config/fish/completions/trustflow.fish`,
  })
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(shells)))
    .action(async (shell: Shell, { json }: { json?: boolean }) => {
      const script = shells[shell](everyCommand(program, program.name()));
      if (json) writeJson({ shell, script });
      else await printPieces([Buffer.from(script)]);
    });
}

function everyCommand(command: Command, path: string): Completed[] {
  const help = command.createHelp();
  return [
    {
      path,
      options: help.visibleOptions(command).map(completedOption),
      commands: help.visibleCommands(command).map((one) => [one.name(), one.summary()]),
      choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    },
    ...command.commands.flatMap((one) => everyCommand(one, `${path} ${one.name()}`)),
  ];
}

function completedOption({ long, flags, argChoices = [], description }: Option): CompletedOption {
  return { name: long ?? "", takesValue: /[<[]/.test(flags), choices: argChoices, description };
}

/** What stands behind a command: names of commands, options, choices of arguments. */
function wordsOf({ commands, options, choices }: Completed): [word: string, summary: string][] {
  return [
    ...commands,
    ...choices.map((choice): [string, string] => [choice, ""]),
    ...options.map(({ name, description }): [string, string] => [name, description]),
  ];
}

/** The branches of a `case`, each with its pattern and what it does. */
function branches(all: [pattern: string, does: string][]): string {
  return all.map(([pattern, does]) => `    ${quoted(pattern)}) ${does} ;;`).join("\n");
}

/** A branch for each option with a value: its choices, or nothing of ours. */
function valueBranches(all: Completed[], list: (words: [string, string][]) => string): string {
  return branches(
    all.flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ name, choices }) => [`${path} ${name}`, list(choices.map((one) => [one, ""]))]),
    ),
  );
}

function wordBranches(all: Completed[], list: (words: [string, string][]) => string): string {
  return branches(all.map((one) => [one.path, list(wordsOf(one))]));
}

/** The command that is typed, behind whatever options: bash and zsh find it alike. */
function walk(all: Completed[], words: string, first: number, end: string): string {
  const [, ...others] = all.map(({ path }) => quoted(path));
  return `  local at=trustflow i
  for ((i = ${first}; i < ${end}; i++)); do
    case "$at \${${words}[i]}" in
      ${others.join("|")}) at="$at \${${words}[i]}" ;;
    esac
  done`;
}

function bash(all: Completed[]): string {
  const list = (words: [string, string][]) =>
    `words=${quoted(words.map(([word]) => word).join(" "))}`;
  return `# Completes trustflow in bash.
_trustflow() {
${walk(all, "COMP_WORDS", 1, "COMP_CWORD")}
  local cur=\${COMP_WORDS[COMP_CWORD]} words=
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${valueBranches(all, list)}
    *) case "$at" in
${wordBranches(all, list)}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
# Where nothing fits, bash completes names of files.
complete -o default -F _trustflow trustflow
`;
}

function zsh(all: Completed[]): string {
  const entry = ([word, summary]: [string, string]) => quoted(`${word}${summary && `:${summary}`}`);
  const list = (words: [string, string][]) => `found=(${words.map(entry).join(" ")})`;
  return `#compdef trustflow
_trustflow() {
${walk(all, "words", 2, "CURRENT")}
  local -a found
  case "$at \${words[CURRENT - 1]}" in
${valueBranches(all, list)}
    *) case "$at" in
${wordBranches(all, list)}
    esac ;;
  esac
  if (( $#found )) && _describe trustflow found; then return; fi
  _files
}
if [[ $funcstack[1] == _trustflow ]]; then _trustflow "$@"; else compdef _trustflow trustflow; fi
`;
}

function fish(all: Completed[]): string {
  const [, ...others] = all.map(({ path }) => quoted(path));
  const lines = all.flatMap((one) => {
    const at = `complete -c trustflow -n ${quoted(`__trustflow_at ${one.path}`)}`;
    return [
      ...one.commands.map(([name, summary]) => `${at} -f -a ${quoted(name)} -d ${quoted(summary)}`),
      ...(one.choices.length > 0 ? [`${at} -f -a ${quoted(one.choices.join(" "))}`] : []),
      ...one.options.map(({ name, takesValue, choices, description }) => {
        const values =
          choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r" : "";
        return `${at} -l ${name.slice(2)}${values} -d ${quoted(description)}`;
      }),
    ];
  });
  return `# Completes trustflow in fish.
function __trustflow_at
  set -l at trustflow
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${others.join(" ")}
        set at "$at $word"
    end
  end
  test "$at" = "$argv"
end
${lines.join("\n")}
`;
}

/** In quotes for a shell; fish reads a backslash within them. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "").replaceAll("'", `'"'"'`)}'`;
}
