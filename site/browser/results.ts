import { isName } from '../../core/name-rules.ts'
import { positionText } from '../../core/quantity.ts'
import { betterText, headlineOf, notesOf } from '../../core/search/notes.ts'
import {
  isEmptySearch,
  RESULTS_SHOWN,
  readSearch,
  type SearchRequest,
  SORTS,
  searchQuery,
} from '../../core/search/request.ts'
import { element, part } from './element.ts'
import { card, lookupAt } from './search-box.ts'

/** Fills the results page of a registry without a daemon. */
export async function fillResults(results: HTMLElement): Promise<void> {
  const of = (name: string) => part(results, `[data-${name}]`)
  const parameters = new URLSearchParams(location.search)
  const request = readSearch(name => parameters.get(name))
  part<HTMLInputElement>(document, 'input[name=q]').value = parameters.get('q') ?? ''
  fillForm(results, request)
  const status = of('status')
  try {
    const outcome = await lookupAt(results.dataset.results).search(request, RESULTS_SHOWN)
    status.textContent = headlineOf(request, outcome)
    const words = request.q.trim()
    if (words !== '') document.title = `“${words}” · ${document.title}`
    const notes = notesOf(outcome).map(note => element('p', { className: 'note' }, note))
    const better = betterText(request.q, outcome.leniency)
    if (better !== null) {
      const link = linkTo({ ...request, q: better }, 1, better)
      notes.push(element('p', { className: 'note' }, 'Did you mean ', link, '?'))
    }
    of('notes').replaceChildren(...notes)
    const cards = outcome.crates.map(crate => card(crate, results.dataset.crates ?? ''))
    of('list').replaceChildren(...cards)
    const reached = Math.min(outcome.total, outcome.considered ?? outcome.total)
    fillPager(of('pager'), request, Math.ceil(reached / RESULTS_SHOWN))
    const isVain = outcome.total === 0 && !isEmptySearch(request)
    if (isVain || outcome.leniency.similar.length > 0) lookElsewhere(of('elsewhere'), request)
  } catch (error) {
    status.textContent =
      'The search index could not be loaded. Check your network connection, or try again soon.'
    throw error
  }
}

function fillForm(results: HTMLElement, { q, filters, sort }: SearchRequest): void {
  const order = sort === SORTS[0] ? '' : sort
  const values: Readonly<Record<string, string>> = { ...filters, sort: order }
  for (const field of results.querySelectorAll<HTMLInputElement>('[name]'))
    field.value = values[field.name] ?? ''
  part<HTMLDetailsElement>(results, 'details').open =
    order !== '' || Object.keys(filters).length > 0
  part<HTMLAnchorElement>(results, 'details a').href = searchQuery({ q }) || './'
}

function fillPager(pager: HTMLElement, request: SearchRequest, last: number): void {
  const { page } = request
  pager.hidden = last <= 1 && page === 1
  pager.replaceChildren(
    ...(page > 1 ? [linkTo(request, Math.min(page - 1, last) || 1, '← Previous')] : []),
    element('span', { className: 'quiet' }, positionText(page, last)),
    ...(page < last ? [linkTo(request, page + 1, 'Next →')] : []),
  )
}

function linkTo(request: SearchRequest, page: number, text: string): HTMLElement {
  return element('a', { href: searchQuery({ ...request, page }) }, text)
}

/** Shows where else to look for a crate; its name takes the place of `{crate}`. */
function lookElsewhere(elsewhere: HTMLElement, { q }: SearchRequest): void {
  const name = q.trim()
  elsewhere.hidden = false
  for (const link of elsewhere.querySelectorAll<HTMLAnchorElement>('[data-page], [data-search]')) {
    const isFor = 'page' in link.dataset ? isName(name) : name !== ''
    if (!isFor) link.parentElement?.remove()
    else {
      const href = link.getAttribute('href') ?? ''
      link.href = href.replaceAll('{crate}', encodeURIComponent(name))
      link.querySelector('code')?.replaceChildren(name)
    }
  }
}
