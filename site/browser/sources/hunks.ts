import type { DiffLine, Hunk } from '../../compare/line-diff.ts'
import type { ChangedFile } from '../../compare/package-diff.ts'
import { fileFragment } from '../../source/address.ts'
import { LINE_MAX, visible } from '../../source/lines.ts'
import { element } from '../element.ts'
import type { Workers } from './task-worker.ts'

/** What is shown of a file: some 2,000 lines, each with so much room besides its characters. */
const ROOM = 200_000
const LINE_ROOM = 60

const SIGNS = { same: ' ', added: '+', removed: '−' } as const

/** Shows the changed lines of a file, first without colors; `source` is where its lines are shown. */
export async function hunkView(
  { archive, render }: Workers,
  file: ChangedFile,
  at: number,
  source: string,
): Promise<HTMLElement> {
  const { path } = file
  const hunks = await archive.ask('hunks', { at })
  const shown: Hunk[] = []
  let [room, hidden] = [ROOM, 0]
  for (const hunk of hunks) {
    const lines = hunk.lines.filter(({ text }) => {
      room -= Math.min(text.length, LINE_MAX) + LINE_ROOM
      return room > 0
    })
    if (lines.length > 0) shown.push({ ...hunk, lines })
    hidden += hunk.lines.length - lines.length
  }
  const rows = shown.flatMap(hunk => rowsOf(hunk, file, source))
  const code = element('code', {}, ...rows.map(row => row.element))
  const names = { role: 'region', ariaLabel: `Changes of ${path}` }
  const pre = element('pre', { className: 'source diff', tabIndex: 0, ...names }, code)
  const color = async (kind: DiffLine['kind']) => {
    const side = rows.filter(row => row.kind === kind || row.kind === 'same')
    if (!side.some(row => row.kind === kind)) return
    const text = side.map(row => row.text).join('\n')
    const lines = await render.ask('lines', { path, text: `${text}\n` })
    for (const [place, row] of side.entries()) row.code.innerHTML = lines[place] ?? ''
  }
  // If no answer comes in time, they stay as they are.
  color('removed')
    .then(() => color('added'))
    .catch(() => undefined)
  if (hidden === 0) return pre
  const more = element(
    'p',
    { className: 'quiet small' },
    `${hidden} more lines are not shown here.`,
  )
  return element('div', {}, pre, more)
}

/** A shown line; the head of a hunk has no kind. */
interface Row {
  readonly kind: DiffLine['kind'] | null
  readonly text: string
  readonly element: HTMLElement
  readonly code: HTMLElement
}

function rowsOf({ before, after, lines }: Hunk, file: ChangedFile, source: string): Row[] {
  const line = file.after === null ? before : after
  const href = source + fileFragment({ path: file.path, lines: [line, line] })
  const link = element('a', { href }, `line ${line}`)
  const title = element('span', { className: 'hunk' }, link, '\n')
  let [old, now] = [before, after]
  const rows = lines.map(({ kind, text: all }): Row => {
    // This may be the only difference.
    const text = all.replace(/\r$/, '␍')
    const numbers = [kind === 'added' ? '' : old++, kind === 'removed' ? '' : now++]
    const code = element('span', {}, visible(text))
    const row = element(
      'span',
      { className: kind },
      element('i', {}, String(numbers[0])),
      element('i', {}, String(numbers[1])),
      SIGNS[kind],
      code,
      '\n',
    )
    return { kind, text, element: row, code }
  })
  return [{ kind: null, text: '', element: title, code: title }, ...rows]
}
