import { canonicalName, isName } from '../../core/name-rules.ts'
import { card, lookupAt, tag } from './search-box.ts'

/** Number of crates of which one may be the one that is meant. */
const LOOKED_AT = 30

/** Number of crates with similar names that are offered. */
const OFFERED = 5

/** Offers the crate that the address of a missing page means, or crates with similar names. */
export async function offerCrates(missing: HTMLElement): Promise<void> {
  const crates = missing.dataset.crates ?? ''
  if (!location.pathname.startsWith(crates)) return
  const [name = '', version = ''] = location.pathname.slice(crates.length).split('/')
  if (!isName(name)) return
  const found = await lookupAt(missing.dataset.search).suggest(name, LOOKED_AT)
  const exact = found.find(one => canonicalName(one.name) === canonicalName(name))
  const shown = exact ? [exact] : found.slice(0, OFFERED)
  if (shown.length === 0) return
  const text =
    exact?.name === name && version !== ''
      ? `The crate ${name} exists, but has no such page or version “${version}”:`
      : 'Did you mean this crate?'
  missing.append(tag('p', '', text), tag('ul', 'cards', ...shown.map(one => card(one, crates))))
}
