import { canonicalName, isName } from '../../core/name-rules.ts'
import { element } from './element.ts'
import { card, lookupAt } from './search-box.ts'

const LOOKED_AT = 30

const OFFERED = 5

/** Offers the crate that the address of a missing page means, or crates with similar names. */
export async function offerCrates(missing: HTMLElement): Promise<void> {
  const crates = missing.dataset.crates ?? ''
  if (!location.pathname.startsWith(crates)) return
  const [name = '', version = ''] = location.pathname.slice(crates.length).split('/')
  if (!isName(name)) return
  const suggestions = await lookupAt(missing.dataset.search).suggest(name, LOOKED_AT)
  const exact = suggestions.find(crate => canonicalName(crate.name) === canonicalName(name))
  const shown = exact ? [exact] : suggestions.slice(0, OFFERED)
  if (shown.length === 0) return
  const text =
    exact?.name === name && version !== ''
      ? `The crate ${name} exists, but has no such page or version “${version}”:`
      : `Did you mean ${shown.length === 1 ? 'this crate' : 'one of these'}?`
  const cards = shown.map(crate => card(crate, crates))
  missing.append(element('p', {}, text), element('ul', { className: 'cards' }, ...cards))
}
