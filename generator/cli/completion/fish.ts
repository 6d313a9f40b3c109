import { type Described, type Kind, quoted, settingKeys } from './describe.ts'

const quote = (text: string) => quoted(text.replaceAll('\\', '\\\\'), `\\'`)

/** Returns a completion script for fish 3 and newer. */
export function fishScript(commands: readonly Described[]): string {
  const paths = commands.map(one => one.path).filter(path => path !== '')
  const taking = new Set(
    commands.flatMap(({ options }) => options.filter(one => one.value).map(one => one.text)),
  )
  return `# fish completion for plimsoll, made by: plimsoll completion fish

# Whether the command line is about this command.
function __plimsoll_at
    set -l at ''
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${[...taking].join(' ')}
                set skip 1
            case '-*'
            case '*'
                set -l next (string trim -- "$at $word")
                if contains -- $next ${paths.map(quote).join(' ')}
                    set at $next
                end
        end
    end
    test "$at" = "$argv[1]"
end

# The crates of the registry folder, or the versions of the crate before an @.
function __plimsoll_crates
    set -l folder ./registry
    test -n "$PLIMSOLL_DIR"; and set folder $PLIMSOLL_DIR
    set -l words (commandline -opc)
    set -l at (contains -i -- --dir $words); and set folder $words[(math $at + 1)]
    set -l word (commandline -ct)
    if string match -q '*@*' -- $word
        set -l name (string split -m 1 @ -- $word)[1]
        for found in $folder/public/crates/$name/*/
            echo $name@(string split / -- (string trim -r -c / -- $found))[-1]
        end
    else
        for found in $folder/public/crates/$word*/
            string split / -- (string trim -r -c / -- $found) | tail -n 1
        end
    end
end

function __plimsoll_settings
    string split ' ' -- ${quote(settingKeys.join(' '))}
end

complete -c plimsoll -f
${commands.flatMap(lines).join('\n')}
`
}

function lines({ path, commands, options, argument }: Described): string[] {
  const start = `complete -c plimsoll -n ${quote(`__plimsoll_at ${quote(path)}`)}`
  return [
    ...commands.map(({ text, about }) => `${start} -a ${text} -d ${quote(about)}`),
    ...options.map(({ text, about, value }) => {
      const taken = value === null ? '' : ` ${value === 'files' ? '-rF' : '-x'}${choices(value)}`
      return `${start} -l ${text.replace(/^--/, '')}${taken} -d ${quote(about)}`
    }),
    ...(argument === null ? [] : [`${start}${argument === 'files' ? ' -F' : choices(argument)}`]),
  ]
}

function choices(kind: Kind): string {
  if (kind === 'any' || kind === 'files') return ''
  if (kind === 'folders') return ` -a '(__fish_complete_directories)'`
  if (kind === 'crates') return ` -a '(__plimsoll_crates)'`
  if (kind === 'settings') return ` -a '(__plimsoll_settings)'`
  return ` -a ${quote(kind.join(' '))}`
}
