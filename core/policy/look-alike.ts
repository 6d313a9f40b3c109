import { canonicalName, type Name } from '../name.ts'

/** Among shorter names, nearly every one has a neighbor one letter away. */
const SHORTEST_SLIP = 4
const SHORTEST_DOUBLE = 3

/** Letters after folding, which replaces `i` by `l`. */
const LETTERS = [...'abcdefghjklmnopqrstuvwxyz_']
const isLetter = (character: string | undefined) =>
  character !== undefined && /[a-z_]/.test(character)

/**
 * Returns the name with similar characters made equal: case, `-`/`_`, `0`/`o`, `1`/`l`/`i`,
 * `rn`/`m`. The records have an index on it; see `lookAlikeKeys`.
 */
export function lookAlikeSkeleton(name: Name): string {
  return fold(canonicalName(name))
}

/**
 * Returns the skeletons of all names that look like `name`. A crate looks like it if its
 * `lookAlikeSkeleton` is among them, so one query finds all. At most 1,900, usually about 300.
 */
export function lookAlikeKeys(name: Name): readonly string[] {
  const text = canonicalName(name)
  const near = [text, ...swapped(text), ...shortened(text), ...doubled(text)].map(fold)
  return [...new Set([...near, ...lengthened(text)])]
}

/** Whether people may mistake `other` for `name`. Colliding names (`a-b`, `A_b`) do not count. */
export function looksAlike(name: Name, other: Name): boolean {
  return (
    canonicalName(name) !== canonicalName(other) &&
    lookAlikeKeys(name).includes(lookAlikeSkeleton(other))
  )
}

function fold(text: string): string {
  return text.replaceAll('rn', 'm').replaceAll('0', 'o').replace(/[1i]/g, 'l')
}

function* swapped(text: string): Iterable<string> {
  if (text.length < SHORTEST_SLIP) return
  for (let i = 0; i + 1 < text.length; i++) {
    const [first, second] = [text[i], text[i + 1]]
    if (isLetter(first) && isLetter(second))
      yield `${text.slice(0, i)}${second}${first}${text.slice(i + 2)}`
  }
}

/** Yields the texts without one letter. Digits are kept: `sha1` is not a typo of `sha`. */
function* shortened(text: string): Iterable<string> {
  for (let i = 0; i < text.length; i++) {
    const least = text[i] === text[i + 1] ? SHORTEST_DOUBLE : SHORTEST_SLIP
    if (text.length > least && isLetter(text[i])) yield text.slice(0, i) + text.slice(i + 1)
  }
}

function* doubled(text: string): Iterable<string> {
  if (text.length < SHORTEST_DOUBLE) return
  for (let i = 0; i < text.length; i++)
    if (isLetter(text[i])) yield text.slice(0, i) + text[i] + text.slice(i)
}

/** Yields the texts with any letter added, folded: most keys are of this kind. */
function* lengthened(text: string): Iterable<string> {
  if (text.length < SHORTEST_SLIP) return
  for (let i = 0; i <= text.length; i++) {
    const [before, after] = [text.slice(0, i), text.slice(i)]
    const [left, right] = [fold(before), fold(after)]
    for (const letter of LETTERS) {
      // Only these two fold together with a letter beside them.
      const isPart = letter === 'r' || letter === 'n'
      yield isPart ? fold(before + letter + after) : left + letter + right
    }
  }
}
