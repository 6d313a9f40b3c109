import type { Random } from '../random.ts'
import type { Deed } from './wish.ts'

/** Crates of each author: their number stays, their versions become more. */
const CRATES = 8

/** A deed and the crate that it is about. */
export type Change = Deed & { readonly name: string }

/** An author: the prefix of their crates, their life, and their number. */
export interface Person {
  readonly prefix: string
  readonly life: number
  readonly number: number
}

/**
 * Draws the changes of an author, one after the other: publishes, also to a crate that all publish
 * to, yanks, and changes of owners. Ends when `perform` reports that there was no answer.
 */
export async function author(
  { prefix, life, number }: Person,
  random: Random,
  login: string,
  goesOn: (done: number) => boolean,
  perform: (change: Change) => Promise<boolean>,
): Promise<void> {
  const mine: [name: string, version: string][] = []
  const shared = `${prefix}-shared`
  const owned = new Set<string>()
  for (let at = 0; goesOn(at); at++) {
    const dice = random.next()
    const crate = mine.length > 0 ? random.pick(mine) : null
    if (crate === null || dice < 0.6) {
      const name = dice < 0.15 ? shared : `${prefix}-${number}-${random.below(CRATES)}`
      const about = `${at + 1}.${life}.${number}`
      if (!(await perform({ name, what: 'publish', about }))) return
      if (name !== shared) mine.push([name, about])
      continue
    }
    const [name, version] = crate
    const isYank = dice < 0.85
    const what = isYank
      ? random.chance(0.6)
        ? 'yank'
        : 'unyank'
      : owned.delete(name)
        ? 'disown'
        : 'own'
    if (what === 'own') owned.add(name)
    if (!(await perform({ name, what, about: isYank ? version : login }))) return
  }
}
