import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, Option } from 'commander'
import { settingTable } from '../../core/settings/schema.ts'
import { command, type Task } from './console/command.ts'
import type { Io } from './console/io.ts'

/** Each script asks the program: a line for a word and its meaning, then `:` and a kind. */
const SCRIPTS = {
  bash: `_plimsoll() {
  local line=\${COMP_LINE:0:COMP_POINT} cur word about cut
  local -a words; read -ra words <<< "$line"
  cur=\${line##*[[:space:]]}; [[ -n $cur ]] || words+=('')
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    case $word in
      :[fd]) compopt -o filenames 2>/dev/null
        while read -r word; do COMPREPLY+=("$word"); done < <(compgen "-\${word#:}" -- "$cur") ;;
      :open) compopt -o nospace 2>/dev/null ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <("\${words[0]}" complete-words -- "\${words[@]:1}" 2>/dev/null)
  # Readline takes some characters for ends of words, and replaces only what follows them.
  for cut in @ = :; do
    if [[ $cur == *"$cut"* && $COMP_WORDBREAKS == *"$cut"* ]]; then
      COMPREPLY=("\${COMPREPLY[@]#"\${cur%"$cut"*}$cut"}")
    fi
  done
}
complete -F _plimsoll plimsoll`,
  zsh: `#compdef plimsoll
_plimsoll() {
  local word about end=' '; local -a found
  while IFS=$'\\t' read -r word about; do
    case $word in
      :f) _files ;;
      :d) _files -/ ;;
      :open) end='' ;;
      *) found+=("\${word//:/\\\\:}:$about") ;;
    esac
  done < <($words[1] complete-words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe plimsoll found -S "$end"
}
if [[ $funcstack[1] == _plimsoll ]]; then _plimsoll "$@"; else compdef _plimsoll plimsoll; fi`,
  fish: `function __plimsoll_words
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete-words -- $words[2..] 2>/dev/null)
        switch $line
            case ':f'; __fish_complete_path (commandline -ct)
            case ':d'; __fish_complete_directories (commandline -ct)
            case ':*';
            case '*'; echo $line
        end
    end
end
complete -c plimsoll -f -a '(__plimsoll_words)'`,
} as const

export const registerCompletion = command('completion', {
  about: 'print a script that completes commands, options, settings and crates in a shell',
  takes: {
    '<shell>': { about: 'the shell for which the script is', choices: Object.keys(SCRIPTS) },
  },
  examples: {
    'plimsoll completion bash > ~/.plimsoll.bash':
      'completes in every bash with `source ~/.plimsoll.bash` in ~/.bashrc',
    'plimsoll completion zsh > ~/.plimsoll.zsh':
      'completes in every zsh with `source ~/.plimsoll.zsh` after `compinit` in ~/.zshrc',
    'plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish':
      'completes in every fish',
  },
  run: async ({ io }: Task, shell: keyof typeof SCRIPTS) => io.out(SCRIPTS[shell]),
})

/** `complete-words WORD…`: what the scripts ask for. */
export function registerCompleteWords(program: Command, io: Io): void {
  program
    .command('complete-words [words...]', { hidden: true })
    .action((words: string[]) => io.out(completed(program, words, io.env).join('\n')))
}

function completed(program: Command, words: readonly string[], env: Io['env']): string[] {
  const last = words.at(-1) ?? ''
  let [command, option, folder] = [program, undefined as Option | undefined, env.PLIMSOLL_DIR]
  for (const word of words.slice(0, -1)) {
    if (option?.long === '--dir') folder = word
    const matching = command.options.find(each => option === undefined && each.long === word)
    if (option === undefined && !word.startsWith('-'))
      command = command.commands.find(sub => sub.name() === word) ?? command
    option = matching?.required || matching?.optional ? matching : undefined
  }
  const [argument] = command.registeredArguments
  const place = /[<[]([^>\]]*)/.exec(option?.flags ?? '')?.[1] ?? argument?.name() ?? ''
  const choices = option ? option.argChoices : argument?.argChoices
  const fits = (word: string) => word.startsWith(last)
  const offer = (words: (readonly [string, string])[]) =>
    words.filter(([word]) => fits(word)).map(([word, about]) => `${word}\t${about}`)
  const help = command.createHelp()
  if (!option && last.startsWith('-'))
    return offer(
      help.visibleOptions(command).map(({ long, description }) => [long ?? '', description]),
    )
  if (!option && command.commands.length > 0)
    return offer(help.visibleCommands(command).map(child => [child.name(), child.description()]))
  if (choices) return choices.filter(fits)
  if (place === 'dir' || place === 'place') return [':d']
  if (/^(?:file|dir-or-url|source)\b/.test(place)) return [':f']
  if (place === 'key=value')
    return [...[...settingTable.keys()].map(key => `${key}=`).filter(fits), ':open']
  return /^name\[?@/.test(place) ? crates(folder || 'registry', last) : []
}

/** Returns the crates of a registry folder that begin so, or the versions after an `@`. */
function crates(folder: string, start: string): string[] {
  const [name = '', version] = start.split('@')
  const inside = join(folder, 'public', 'crates', version === undefined ? '' : join('/', name))
  if (!existsSync(inside)) return []
  const folders = readdirSync(inside, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => (version === undefined ? entry.name : `${name}@${entry.name}`))
    .filter(value => value.startsWith(start))
  return version === undefined ? [...folders, ':open'] : folders
}
