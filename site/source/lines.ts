import { type Markup, raw } from '../elements/markup.ts'

/** Code with more lines is shown without numbers: each line number costs 50 characters. */
const LINES_MAX = 20_000

/** Renders highlighted code as lines with ids (`#L3`). Splits elements that span several lines. */
export function numberedLines(code: Markup): Markup {
  const shown = visible(code.toString())
  const lines = splitLines(shown)
  if (lines.length > LINES_MAX) return raw(shown)
  return raw(
    lines
      .map(
        (line, at) => `<span><a id="L${at + 1}" href="#L${at + 1}">${at + 1}</a>${line}\n</span>`,
      )
      .join(''),
  )
}

/** Replaces characters that change the text direction, which can disguise code, by their codes. */
function visible(html: string): string {
  return html.replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    one => `[U+${one.charCodeAt(0).toString(16).toUpperCase()}]`,
  )
}

/** Splits the highlighter's output, which consists of `<span class="…">` and text, into lines. */
export function splitLines(html: string): string[] {
  const lines: string[] = []
  const open: string[] = []
  let line = ''
  for (const [part] of html.matchAll(/<span[^>]*>|<\/span>|\n|[^<\n]+/g)) {
    if (part === '\n') {
      lines.push(line + '</span>'.repeat(open.length))
      line = open.join('')
      continue
    }
    if (part === '</span>') open.pop()
    else if (part.startsWith('<span')) open.push(part)
    line += part
  }
  if (line !== open.join('') || lines.length === 0) lines.push(line + '</span>'.repeat(open.length))
  return lines
}
