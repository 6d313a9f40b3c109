import type { Random } from '../../support/random.ts'
import type { Deed } from '../driver/wish.ts'

/** Crates of each client: their number stays, their versions become more. */
const CRATES = 8
/** The crate that all publish to. */
const SHARED = 'p-shared'

/** A deed and the crate that it is about. */
export type Change = Deed & { readonly name: string }

/**
 * Draws the changes of a client: publishes, yanks, and bob as an owner. Each has to succeed before
 * the next is drawn.
 */
export function* drawChanges(
  life: number,
  client: number,
  count: number,
  random: Random,
): Generator<Change> {
  const mine: [name: string, version: string][] = []
  const owned = new Set<string>()
  for (let at = 0; at < count; at++) {
    const dice = random.next()
    const crate = mine.length > 0 ? random.pick(mine) : null
    if (crate === null || dice < 0.6) {
      const name = dice < 0.15 ? SHARED : `p-${client}-${random.below(CRATES)}`
      const about = `${at + 1}.${life}.${client}`
      yield { name, what: 'publish', about }
      if (name !== SHARED) mine.push([name, about])
      continue
    }
    const [name, version] = crate
    if (dice < 0.85) yield { name, what: random.chance(0.6) ? 'yank' : 'unyank', about: version }
    else {
      const what = owned.delete(name) ? 'disown' : 'own'
      if (what === 'own') owned.add(name)
      yield { name, what, about: 'bob' }
    }
  }
}
