/** Loads an element of another page, as `page.ts` does; null without it. */
export type Load = (address: string, selector: string) => Promise<Element | null>

/**
 * Makes a filter show only the rows of its list that contain all of its words. Rows that another
 * page has are loaded first; `onMore` then looks at the page again.
 */
export async function startFilter(
  filter: HTMLElement,
  list: HTMLElement,
  load: Load,
  onMore: () => void,
): Promise<void> {
  const [input, output] = [filter.querySelector('input'), filter.querySelector('output')]
  if (input === null || output === null) return
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/)
    const shown = rows.filter(({ row, text }) => {
      row.hidden = !words.every(word => text.includes(word))
      return !row.hidden
    })
    const count = shown.length === 0 ? 'Nothing matches.' : `${shown.length} of ${rows.length}`
    output.textContent = input.value === '' ? '' : count
  }
  const { all } = filter.dataset
  const more = all ? await load(all, `#${list.id}`) : null
  if (more) {
    list.replaceChildren(...more.children)
    onMore()
  }
  // Spaces between cells, so that no word goes over two of them.
  const rows = ([...list.children] as HTMLElement[]).map(row => {
    const cells = [...row.children].map(cell => cell.textContent)
    return { row, text: cells.join(' ').toLowerCase() }
  })
  input.addEventListener('input', show)
  show()
}
