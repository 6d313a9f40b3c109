/** Returns the lines that the URL's fragment names: `#L3` or `#L3-L9`. */
function chosenLines(): [from: number, to: number] | null {
  const [, from, to] = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash) ?? []
  return from === undefined ? null : [Number(from), Number(to ?? from)]
}

/** Highlights the chosen lines; goes to the part of a long file that has them. */
function markLines(): void {
  for (const line of document.querySelectorAll('.marked')) line.classList.remove('marked')
  const [from, to] = chosenLines() ?? [0, -1]
  const parts = [...document.querySelectorAll<HTMLAnchorElement>('.parts:first-child a')]
  const part = parts.findLast(one => Number(one.dataset.first) <= from)
  if (part && !part.hasAttribute('aria-current')) location.replace(part.href + location.hash)
  for (let at = from; at <= to; at++) {
    const line = document.getElementById(`L${at}`)?.parentElement
    if (!line) break
    line.classList.add('marked')
    if (at === from) line.scrollIntoView({ block: 'center' })
  }
}

/** Makes a click on a number with Shift choose all lines from the line chosen before. */
function startRanges(): void {
  document.querySelector('pre.source')?.addEventListener('click', event => {
    const { target, shiftKey } = event as MouseEvent
    const number = Number(/^L(\d+)$/.exec((target as Element).id)?.[1])
    const [first] = chosenLines() ?? []
    if (!shiftKey || !number || first === undefined) return
    event.preventDefault()
    location.hash = `#L${Math.min(first, number)}-L${Math.max(first, number)}`
  })
}

/** Shows the buttons that copy the code without its numbers, and the link to the chosen lines. */
function startTools(copyText: (text: string) => Promise<boolean>): void {
  const code = () =>
    Array.from(document.querySelectorAll('.source code > span'), line =>
      (line.textContent ?? '').slice(line.firstElementChild?.textContent?.length),
    ).join('')
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-tool]')) {
    const label = button.textContent
    button.hidden = false
    button.addEventListener('click', async () => {
      if (!(await copyText(button.dataset.tool === 'copy' ? code() : location.href))) return
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = label
      }, 1500)
    })
  }
}

/** Opens the folder or the file that the URL's fragment names. */
function openTarget(): void {
  const target = document.getElementById(decodeURI(location.hash.slice(1)))
  if (target instanceof HTMLDetailsElement) {
    for (
      let one: Element | null | undefined = target;
      one;
      one = one.parentElement?.closest('details')
    )
      (one as HTMLDetailsElement).open = true
    target.scrollIntoView()
  }
}

function follow(): void {
  markLines()
  openTarget()
}

/** Starts what the pages of the source browser and of compared versions do. */
export function start(copyText: (text: string) => Promise<boolean>): void {
  startRanges()
  startTools(copyText)
  follow()
  addEventListener('hashchange', follow)
}
