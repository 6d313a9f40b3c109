import { type Described, type Kind, quoted, settingKeys } from './describe.ts'

/**
 * Returns a shell function for bash and zsh that prints what can follow a command: a line
 * `word|kind|meaning` for each command and option, and `|kind|` for its arguments.
 */
export function tableFunction(commands: readonly Described[]): string {
  const cases = commands.map(({ path, commands, options, argument }) => {
    const rows = [
      ...commands.map(({ text, about }) => `${text}|command|${about}`),
      ...options.map(({ text, about, value }) => `${text}|${kindText(value)}|${about}`),
      ...(argument === null ? [] : [`|${kindText(argument)}|`]),
    ]
    return `    ${quoted(path)}) printf '%s\\n' ${rows.map(row => quoted(row)).join(' \\\n      ')} ;;`
  })
  return `_plimsoll_table() {
  case $1 in
${cases.join('\n')}
  esac
}

# The kind of word $2 after the command $1; empty if it is none of its words.
_plimsoll_kind() {
  local name kind about
  while IFS='|' read -r name kind about; do
    if [[ $name == "$2" ]]; then
      printf '%s' "$kind"
      return
    fi
  done < <(_plimsoll_table "$1")
}`
}

/** Returns a kind as one word; words to choose from are separated by spaces. */
function kindText(kind: Kind | null): string {
  if (kind === null) return 'flag'
  return typeof kind === 'string' ? kind : `words ${kind.join(' ')}`
}

/** Returns the lines that find out which command a line in bash or zsh is about. */
export function walk(words: string): string {
  return `  for word in ${words}; do
    if [[ -n $value ]]; then
      if [[ $option == --dir ]]; then folder=\${word/#\\~/$HOME}; fi
      value=
      continue
    fi
    kind=$(_plimsoll_kind "$at" "$word")
    if [[ $kind == command ]]; then
      at="\${at:+$at }$word"
    elif [[ $word == -* && $kind != flag ]]; then
      option=$word
      value=$kind
    fi
  done`
}

/** The words after `--set`. */
export const SETTINGS: string = settingKeys.join(' ')
