// site/browser: The scripts of the pages. Every page loads page.ts; what a page says never depends
// on it.
import { decoded } from '../../core/urls/decoded.ts'
import { addCopyButtons } from './copy.ts'

/** Shows dates outside READMEs as ages, such as `2 days ago`, with the date as a tooltip. */
function showAges(): void {
  const steps = Object.entries({
    year: 31_557_600,
    month: 2_629_800,
    week: 604_800,
    day: 86_400,
    hour: 3600,
    minute: 60,
  }) as [Intl.RelativeTimeFormatUnit, number][]
  const format = new Intl.RelativeTimeFormat('en')
  for (const tag of document.querySelectorAll<HTMLTimeElement>(
    'time:not(.exact, .date, .readme *)',
  )) {
    const seconds = (Date.parse(tag.dateTime) - Date.now()) / 1000
    const step = steps.find(([, length]) => Math.abs(seconds) >= length)
    tag.title = tag.dateTime.replace('T', ' ').replace('Z', ' UTC')
    tag.textContent =
      step === undefined ? 'just now' : format.format(Math.trunc(seconds / step[1]), step[0])
  }
}

/** Shows the dates on paper, which does not know how old it is. */
function printDates(): void {
  addEventListener('beforeprint', () => {
    for (const tag of document.querySelectorAll<HTMLTimeElement>('time[title]:not(.date)'))
      tag.textContent = tag.title
  })
  addEventListener('afterprint', showAges)
}

/** Shows the filters of lists that have more than one row; the first use loads their script. */
function startFilters(): void {
  for (const filter of document.querySelectorAll<HTMLElement>('[data-filter]')) {
    const list = document.getElementById(filter.dataset.filter ?? '')
    if (list === null || list.children.length < 2) continue
    filter.hidden = false
    const start = async () =>
      (await import('./filter.ts')).startFilter(filter, list, load, showAges)
    filter.addEventListener('focusin', start, { once: true })
  }
}

/** Loads an element of another page, with links that work on this one; null without such a page. */
async function load(address: string, selector: string): Promise<Element | null> {
  const url = new URL(address, location.href)
  const text = await fetch(url).then(
    answer => (answer.ok ? answer.text() : ''),
    () => '',
  )
  const part = new DOMParser().parseFromString(text, 'text/html').querySelector(selector)
  for (const link of part?.querySelectorAll('a') ?? [])
    link.href = new URL(link.getAttribute('href') ?? '', url).href
  return part
}

/** Fills the version selector of a version's page from its crate's page; a click or Escape closes it. */
function startSelector(): void {
  const selector = document.querySelector<HTMLDetailsElement>('.selector')
  const { from } = selector?.dataset ?? {}
  const fill = async () => {
    const list = await load(from ?? '', '.selector ul')
    if (!list) return
    for (const link of list.querySelectorAll('a')) {
      if (link.href === location.href.replace(/#.*/, '')) link.setAttribute('aria-current', 'true')
      else link.removeAttribute('aria-current')
    }
    selector?.querySelector('ul')?.replaceWith(list)
  }
  if (from) selector?.addEventListener('toggle', fill, { once: true })
  if (selector === null) return
  document.addEventListener('click', event => {
    if (!(event.target as Element).closest('summary')) selector.open = false
  })
  document.addEventListener('keydown', event => {
    if (event.key !== 'Escape' || !selector.open) return
    selector.open = false
    selector.querySelector('summary')?.focus()
  })
}

/** Says on the page of a version that another one is the newest. */
async function startBanner(): Promise<void> {
  const banner = document.querySelector<HTMLElement>('[data-badge]')
  const { badge = '', name, number } = banner?.dataset ?? {}
  const link = banner?.querySelector('a')
  const title = link && (await load(badge, 'title'))
  const [, newest, isYanked] = /: v?(\S+)( yanked)?/.exec(title?.textContent ?? '') ?? []
  if (!banner || !link || !newest || newest === number) return
  link.textContent = newest
  banner.className = 'notice newest'
  const stable = number?.includes('-') && !newest.includes('-') ? 'stable ' : ''
  const isOwnYanked = !isYanked && document.querySelector('.title .bad') !== null
  const kind = `${stable}version of ${name}${isOwnYanked ? ' that is not yanked' : ''}`
  banner.replaceChildren(`This is version ${number}. The newest ${kind} is `, link, '.')
}

/** Has a script say of each requirement that comes into view what is the newest version here. */
function startRequirements(): void {
  const view = new IntersectionObserver(seen => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue
      view.unobserve(target)
      void import('./requirements.ts').then(({ sayNewest }) =>
        sayNewest(target as HTMLAnchorElement, load),
      )
    }
  })
  for (const link of document.querySelectorAll('#dependencies .row-head > a:not([rel])'))
    view.observe(link)
}

/** Shows the username in the account link: a cookie has it, which the daemon sets for display. */
function showUser(): void {
  const link = document.querySelector('[data-user]')
  const login = /(?:^|; )(?:__\w+-)?plimsoll_user=([^;]+)/.exec(document.cookie)?.[1]
  if (link && login) link.textContent = decoded(login).slice(0, 40)
}

/** Describes the drawing of a crate's downloads by its numbers, for screen readers. */
async function describeDownloads(): Promise<void> {
  const image = document.querySelector<HTMLImageElement>('img[data-numbers]')
  const answer = image && (await fetch(image.dataset.numbers ?? ''))
  if (image === null || !answer?.ok) return
  const { total, recent } = await answer.json()
  image.alt = `Downloads: ${total} in total, ${recent} in the last 90 days`
}

/** Marks the chosen tab for screen readers; the stylesheet marks it visually. */
function markTab(): void {
  const tabs = [...document.querySelectorAll<HTMLAnchorElement>('.tabs a[href^="#"]')]
  const target = document.getElementById(decoded(location.hash.slice(1)))?.closest('.tab')
  const current = tabs.find(tab => tab.hash === `#${target?.id}`) ?? tabs[0]
  for (const tab of tabs) tab.removeAttribute('aria-current')
  current?.setAttribute('aria-current', 'true')
  // On a phone, the tab bar is wider than the screen.
  const bar = current?.parentElement
  if (bar) bar.scrollLeft = current.offsetLeft - bar.clientWidth / 2
}

/** Makes `/` and `s` focus the search box, and loads its script on first use. */
function startSearch(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-search]')
  const input = form?.querySelector('input')
  if (form && input) {
    form.addEventListener('formdata', ({ formData }) => {
      for (const [name, value] of [...formData]) if (value === '') formData.delete(name)
    })
    addEventListener('keydown', event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !/^[/s]$/.test(event.key)) return
      if ((event.target as Element).closest('input, textarea, select, [contenteditable]')) return
      event.preventDefault()
      input.focus()
    })
    const load = async () => new (await import('./search.ts')).Suggestions(form, input)
    if (document.activeElement === input) void load()
    else input.addEventListener('focus', load, { once: true })
  }
  for (const place of document.querySelectorAll<HTMLElement>('[data-results], [data-missing]'))
    void import('./search.ts').then(({ fillResults, offerCrates }) =>
      'results' in place.dataset ? fillResults(place) : offerCrates(place),
    )
}

showAges()
printDates()
showUser()
startSearch()
addCopyButtons()
addEventListener('readme', addCopyButtons)
startFilters()
void describeDownloads()
startSelector()
startRequirements()
void startBanner()
markTab()
addEventListener('hashchange', markTab)
