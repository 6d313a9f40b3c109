import type { Described } from './describe.ts'
import { SETTINGS, tableFunction, walk } from './posix.ts'

/** Returns a completion script for zsh, to be a file `_plimsoll` in a folder of `fpath`. */
export function zshScript(commands: readonly Described[]): string {
  return `#compdef plimsoll
# zsh completion for plimsoll, made by: plimsoll completion zsh

${tableFunction(commands)}

# Completes the current word as one of a kind.
_plimsoll_values() {
  case $1 in
    files) _files ;;
    folders) _files -/ ;;
    settings) compadd -S '' -- \${=:-${SETTINGS}} ;;
    words\\ *) compadd -- \${=1#words } ;;
    crates)
      local name=\${PREFIX%%@*}
      if [[ $PREFIX == *@* ]]; then
        compadd -- $name@\${^\${(@)\${(@f)"$(print -rl -- $folder/public/crates/$name/[0-9]*(/N:t))"}}}
      else
        compadd -S '' -- $folder/public/crates/$PREFIX*(/N:t)
      fi ;;
  esac
}

_plimsoll() {
  local folder=\${PLIMSOLL_DIR:-./registry} at= option= value= kind= word name about
  local -a found
${walk(`"\${(@)words[2,CURRENT-1]}"`)}
  if [[ -n $value ]]; then
    _plimsoll_values $value
    return
  fi
  while IFS='|' read -r name kind about; do
    if [[ -z $name ]]; then
      [[ $PREFIX == -* ]] || _plimsoll_values $kind
    elif [[ $name != -* || $PREFIX == -* ]]; then
      found+=("$name:$about")
    fi
  done < <(_plimsoll_table "$at")
  (( $#found )) && _describe plimsoll found
}

if [[ $funcstack[1] == _plimsoll ]]; then
  _plimsoll "$@"
else
  compdef _plimsoll plimsoll
fi
`
}
