import { formatBytes, formatNumber } from '../../core/quantity.ts'
import { fileLanguage, highlight } from '../elements/highlight.ts'
import { type Child, html, join, type Markup, raw } from '../elements/markup.ts'
import { fileText, type SourceFile } from '../source/files.ts'
import { splitLines, visible } from '../source/lines.ts'
import { type FilePair, isMadeByCargo, pairFiles } from './file-pairs.ts'
import { type DiffLine, type Hunk, type LineDiff, LineDiffs } from './line-diff.ts'

/** The URLs of the pages of files, by path, for each version. */
export interface PagesOfFiles {
  readonly before: ReadonlyMap<string, string>
  readonly after: ReadonlyMap<string, string>
}

/** A changed file as the page shows it. */
export interface FileDiff {
  readonly pair: FilePair
  readonly added: number
  readonly removed: number
  /** The numbers of lines, as text. */
  readonly counts: Markup | null
  /** Renders the file with its changed lines. */
  content(id: string): Markup
}

/** The most lines that are shown of one file, of all files, and of all files without a click. */
const LINES_MAX = { file: 2000, page: 5000, open: 1500 }

/** The most lines of a file that is shown without a click. */
const OPEN_MAX = 400

/** Longer lines are cut. */
const LINE_MAX = 1000

/** Compares the files of two versions; files that are the same in both are left out. */
export function fileDiffs(
  files: { readonly before: readonly SourceFile[]; readonly after: readonly SourceFile[] },
  pages: PagesOfFiles,
): FileDiff[] {
  const diffs = new LineDiffs()
  const left = { page: LINES_MAX.page, open: LINES_MAX.open }
  return pairFiles(files.before, files.after).map(pair => {
    const lines = pair.kind === 'renamed' ? null : linesOf(pair, diffs)
    const [added, removed] = [lines?.added ?? 0, lines?.removed ?? 0]
    const counts =
      lines === null
        ? null
        : html`<span class="plus">+${formatNumber(added)}</span> <span class="minus">−${formatNumber(removed)}</span>`
    const changed = added + removed
    const isShown = lines !== null && changed <= Math.min(LINES_MAX.file, left.page)
    if (isShown) left.page -= changed
    const isShort = changed <= Math.min(OPEN_MAX, left.open) && !isMadeByCargo(pair.path)
    // What is said instead of lines is short.
    const isOpen = !isShown || isShort
    if (isShown && isOpen) left.open -= changed
    const links = linksOf(pair, pages)
    const content = (
      id: string,
    ) => html`<details class="file-diff" id="${id}"${isOpen ? html` open` : null}>
<summary><span class="badge ${pair.kind}">${pair.kind}</span> <code>${pair.path}</code> ${counts}</summary>
<p class="quiet small">${join(
      [explanation(pair, lines, isShown), ...links].filter(one => one !== null),
      ' · ',
    )}</p>
${isShown ? hunks(pair, lines, pages) : null}</details>
`
    return { pair, added, removed, counts, content }
  })
}

/** Compares the lines of a file; null if it is no text, or too large to be read. */
function linesOf({ before, after }: FilePair, diffs: LineDiffs): LineDiff | null {
  const [old, now] = [before, after].map(file => (file === null ? '' : fileText(file)))
  return typeof old === 'string' && typeof now === 'string' ? diffs.compare(old, now) : null
}

function linksOf({ before, after }: FilePair, pages: PagesOfFiles): Markup[] {
  const link = (url: string | undefined, text: string) =>
    url === undefined ? [] : [html`<a href="${url}">${text}</a>`]
  return [
    ...link(before ? pages.before.get(before.path) : undefined, 'File before'),
    ...link(after ? pages.after.get(after.path) : undefined, 'File after'),
  ]
}

/** Says what the lines do not tell; null if there is nothing to say. */
function explanation(
  { kind, before, after }: FilePair,
  lines: LineDiff | null,
  isShown: boolean,
): Child {
  if (kind === 'renamed') return html`was <code>${before?.path}</code>, with the same content`
  if (lines === null) {
    const sizes = [before, after].map(file => (file === null ? 'none' : formatBytes(file.size)))
    return `not text, or too large to compare: ${sizes.join(' → ')}`
  }
  if (!isShown) return 'too many lines changed to show them here'
  if (lines.added + lines.removed === 0) return 'only ends of lines differ'
  return lines.isMatched ? null : 'too much changed to match lines: the old ones precede the new'
}

function hunks(
  { path, before, after }: FilePair,
  lines: LineDiff,
  pages: PagesOfFiles,
): Markup | null {
  const all = lines.hunks()
  if (all.length === 0) return null
  const language = fileLanguage(path)
  const url = after
    ? pages.after.get(after.path)
    : before
      ? pages.before.get(before.path)
      : undefined
  return html`<pre class="source diff" tabindex="0" aria-label="Changes of ${path}"><code>${all.map(
    hunk => {
      const line = after ? hunk.after : hunk.before
      const title = `line ${formatNumber(line)}`
      const head = url === undefined ? title : html`<a href="${url}#L${line}">${title}</a>`
      return html`<span class="hunk">${head}\n</span>${hunkLines(hunk, language)}`
    },
  )}</code></pre>`
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const

/** Renders the lines of a hunk with their numbers in both versions. */
function hunkLines(hunk: Hunk, language: string | null): Markup {
  const old = colored(hunk, 'added', language)
  const now = colored(hunk, 'removed', language)
  let [before, after] = [hunk.before, hunk.after]
  const rows = hunk.lines.map(({ kind }) => {
    const text = (kind === 'removed' ? old : now).next().value ?? ''
    if (kind === 'same') old.next()
    const numbers = [kind === 'added' ? '' : before++, kind === 'removed' ? '' : after++]
    return `<span class="${kind}"><i>${numbers[0]}</i><i>${numbers[1]}</i>${SIGNS[kind]}${text}\n</span>`
  })
  return raw(rows.join(''))
}

/** Yields the lines of one side of a hunk, those that are not of the kind `without`, as HTML. */
function* colored(
  { lines }: Hunk,
  without: DiffLine['kind'],
  language: string | null,
): Generator<string, undefined> {
  const kind = without === 'added' ? 'removed' : 'added'
  // Without a line of its own, a side is not looked at: both have the unchanged lines.
  if (without === 'added' && !lines.some(one => one.kind === kind)) return undefined
  const texts = lines.filter(one => one.kind !== without).map(one => cut(one.text))
  yield* splitLines(visible(highlight(`${texts.join('\n')}\n`, language).toString()))
  return undefined
}

function cut(text: string): string {
  return text.length <= LINE_MAX ? text : `${text.slice(0, LINE_MAX)} …`
}
