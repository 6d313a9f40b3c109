import { isName } from '../../core/name-rules.ts'
import { SORTS, searchQuery } from '../../core/paths/search.ts'
import { betterText, headlineOf, notesOf } from '../../core/search/notes.ts'
import {
  isEmptySearch,
  parametersOf,
  RESULTS_SHOWN,
  readSearch,
  type SearchRequest,
} from '../../core/search/request.ts'
import { card, lookupAt, set, tag } from './search-box.ts'

/** Fills the results page of a registry without a daemon. */
export async function fillResults(results: HTMLElement): Promise<void> {
  const part = (name: string): HTMLElement =>
    results.querySelector<HTMLElement>(`[data-${name}]`) ?? tag('p', '')
  const parameters = new URLSearchParams(location.search)
  const request = readSearch(name => parameters.get(name))
  fillForm(results, request)
  const status = part('status')
  try {
    const found = await lookupAt(results.dataset.results).search(request, RESULTS_SHOWN)
    status.textContent = headlineOf(request, found)
    const words = request.q.trim()
    if (words !== '') document.title = `“${words}” · ${document.title}`
    part('notes').replaceChildren(...notesOf(found).map(note => tag('p', 'note', note)))
    const better = betterText(request.q, found.leniency)
    if (better !== null) {
      const link = linkTo({ ...request, q: better }, 1, better)
      part('notes').append(tag('p', 'note', 'Did you mean ', link, '?'))
    }
    const cards = found.crates.map(crate => card(crate, results.dataset.crates ?? ''))
    part('list').replaceChildren(...cards)
    const reached = Math.min(found.total, found.considered ?? found.total)
    fillPager(part('pager'), request, Math.ceil(reached / RESULTS_SHOWN))
    const isVain = found.total === 0 && !isEmptySearch(request)
    if (isVain || found.leniency.similar.length > 0) lookElsewhere(part('elsewhere'), request)
  } catch (error) {
    status.textContent =
      'The search index could not be loaded. Check your network connection, or try again soon.'
    throw error
  }
}

function fillForm(results: HTMLElement, { q, filters, sort }: SearchRequest): void {
  const values = new Map<string, string | undefined>([
    ['sort', sort === SORTS[0] ? '' : sort],
    ...Object.entries(filters),
  ])
  for (const field of results.querySelectorAll<HTMLInputElement>('[name]'))
    field.value = values.get(field.name) ?? ''
  const details = results.querySelector('details')
  if (details === null) return
  details.open = sort !== SORTS[0] || values.size > 1
  set(details.querySelector('a') ?? details, { href: searchQuery({ q }) || './' })
}

function fillPager(pager: HTMLElement, request: SearchRequest, last: number): void {
  const { page } = request
  pager.hidden = last <= 1 && page === 1
  pager.replaceChildren(
    ...(page > 1 ? [linkTo(request, Math.min(page - 1, last) || 1, '← Previous')] : []),
    tag('span', 'quiet', `Page ${page} of ${last}`),
    ...(page < last ? [linkTo(request, page + 1, 'Next →')] : []),
  )
}

function linkTo(request: SearchRequest, page: number, text: string): HTMLElement {
  return set(tag('a', '', text), { href: searchQuery(parametersOf(request, page)) })
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
