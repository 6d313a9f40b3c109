import { canonicalName, isName } from '../../core/name-rules.ts'
import { movedPath } from '../../core/paths/moved.ts'
import { element } from './element.ts'
import { card, lookupAt } from './search-box.ts'

const LOOKED_AT = 30

const OFFERED = 5

/**
 * Offers the crate that the address of a missing page means, or crates with similar names. Goes on
 * from the page of a file or of compared versions that there was before.
 */
export async function offerCrates(missing: HTMLElement): Promise<void> {
  const crates = missing.dataset.crates ?? ''
  if (!location.pathname.startsWith(crates)) return
  const moved = movedPath(location.pathname.slice(crates.length))
  if (moved !== null && (await goTo(crates + moved))) return
  const [name = '', version = ''] = location.pathname.slice(crates.length).split('/')
  if (!isName(name)) return
  const found = await lookupAt(missing.dataset.search).suggest(name, LOOKED_AT)
  const exact = found.find(crate => canonicalName(crate.name) === canonicalName(name))
  const shown = exact ? [exact] : found.slice(0, OFFERED)
  if (shown.length === 0) return
  const text =
    exact?.name === name && version !== ''
      ? `The crate ${name} exists, but has no such page or version “${version}”:`
      : `Did you mean ${shown.length === 1 ? 'this crate' : 'one of these'}?`
  const cards = shown.map(crate => card(crate, crates))
  missing.append(element('p', {}, text), element('ul', { className: 'cards' }, ...cards))
}

/** Goes to an address, with the old address's lines; false if there is no such page. */
async function goTo(address: string): Promise<boolean> {
  const { ok } = await fetch(address, { method: 'HEAD' })
  const lines = /^#(L\d+(?:-L\d+)?)$/.exec(location.hash)?.[1]
  if (ok) location.replace(lines === undefined ? address : `${address}:${lines}`)
  return ok
}
