import type { Described } from './describe.ts'
import { SETTINGS, tableFunction, walk } from './posix.ts'

/** Returns a completion script for bash 3.2 and newer, which needs no other package. */
export function bashScript(commands: readonly Described[]): string {
  return `# bash completion for plimsoll, made by: plimsoll completion bash

${tableFunction(commands)}

# Adds those of the words that begin with $cur.
_plimsoll_words() {
  local word
  for word; do
    if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
  done
}

# Completes the word in $cur as one of a kind.
_plimsoll_values() {
  local path name
  case $1 in
    files | folders)
      local IFS=$'\\n'
      if [[ $1 == files ]]; then name=-f; else name=-d; fi
      COMPREPLY=($(compgen $name -- "$cur"))
      compopt -o filenames 2>/dev/null ;;
    settings)
      _plimsoll_words ${SETTINGS}
      compopt -o nospace 2>/dev/null ;;
    words\\ *) _plimsoll_words \${1#words } ;;
    crates)
      name=\${cur%%@*}
      if [[ $cur == *@* ]]; then
        for path in "$folder/public/crates/$name"/*/; do
          if [[ -d $path ]]; then path=\${path%/}; _plimsoll_words "$name@\${path##*/}"; fi
        done
      else
        for path in "$folder/public/crates/$cur"*/; do
          if [[ -d $path ]]; then path=\${path%/}; _plimsoll_words "\${path##*/}"; fi
        done
        compopt -o nospace 2>/dev/null
      fi ;;
  esac
}

_plimsoll() {
  local IFS=$' \\t\\n' line=\${COMP_LINE:0:COMP_POINT} folder=\${PLIMSOLL_DIR:-./registry}
  local at= option= value= kind= word cur name about cut
  local -a words
  read -ra words <<< "$line"
  cur=\${line##*[[:space:]]}
  if [[ -n $cur ]]; then words=("\${words[@]:0:\${#words[@]}-1}"); fi
${walk(`"\${words[@]:1}"`)}
  COMPREPLY=()
  if [[ -n $value ]]; then
    _plimsoll_values "$value"
  else
    while IFS='|' read -r name kind about; do
      if [[ -z $name && $cur != -* ]]; then
        _plimsoll_values "$kind"
      elif [[ -n $name && $name == "$cur"* && ( $name != -* || $cur == -* ) ]]; then
        COMPREPLY+=("$name")
      fi
    done < <(_plimsoll_table "$at")
  fi
  # Readline takes some characters for ends of words, and replaces only what follows them.
  for cut in @ = :; do
    if [[ $cur == *"$cut"* && $COMP_WORDBREAKS == *"$cut"* ]]; then
      COMPREPLY=("\${COMPREPLY[@]#"\${cur%"$cut"*}$cut"}")
    fi
  done
}

complete -F _plimsoll plimsoll
`
}
