import { type Command, Help } from 'commander'

/** The help of a command, besides its arguments and options. */
export interface Manual {
  /** Command lines, each with its effect. */
  readonly examples: readonly (readonly [line: string, meaning: string])[]
  /** The output of `--json`; adds the option. */
  readonly json?: string
  /** The meaning of exit code 1; default: `the operation was refused or failed`. */
  readonly fails?: string
}

const manuals = new WeakMap<Command, Manual>()

/** Adds examples, the shape of `--json` and exit codes to the help of a command. */
export function withManual(command: Command, manual: Manual): Command {
  manuals.set(command, manual)
  if (manual.json !== undefined) command.option('--json', 'print the result as JSON')
  return command.addHelpText('after', () => `\n${helpText(manual)}`)
}

/** Returns the manual of a command; null for a group of commands. */
export function manualOf(command: Command): Manual | null {
  return manuals.get(command) ?? null
}

/** Returns the exit codes of a command, with their meaning. */
export function exitCodes({ fails }: Manual): readonly (readonly [code: number, what: string])[] {
  return [
    [0, 'success'],
    [1, fails ?? 'the operation was refused or failed'],
    [2, 'wrong usage or settings; nothing was changed'],
  ]
}

function helpText(manual: Manual): string {
  const json = manual.json === undefined ? [] : ['JSON:', ...wrapped(manual.json), '']
  const examples = manual.examples.flatMap(([line, meaning]) => [`  # ${meaning}`, `  ${line}`])
  const codes = exitCodes(manual).map(([code, what]) => `  ${code}  ${what}`)
  return [...json, 'Examples:', ...examples, '', 'Exit codes:', ...codes].join('\n')
}

/** Breaks a text into indented lines of at most 80 columns. */
function wrapped(text: string): string[] {
  const lines = new Help().boxWrap(text.replaceAll('`', ''), 78).split('\n')
  return lines.map(line => `  ${line}`)
}
