import { type Markup, raw } from '../elements/markup.ts'

/** Renders highlighted code as lines with ids (`#L3`). Splits elements that span several lines. */
export function numberedLines(code: Markup, first = 1): Markup {
  return raw(
    splitLines(visible(code.toString()))
      .map((line, at) => {
        const number = first + at
        return `<span><a id="L${number}" href="#L${number}">${number}</a>${line}\n</span>`
      })
      .join(''),
  )
}

/** Replaces characters that change the text direction, which can disguise code, by their codes. */
export function visible(text: string): string {
  return text.replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    one => `[U+${one.charCodeAt(0).toString(16).toUpperCase()}]`,
  )
}

/** Splits the highlighter's output, which consists of `<span class="…">` and text, into lines. */
export function splitLines(html: string): string[] {
  const lines = html.split('\n')
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  const open: string[] = []
  for (const [at, line] of lines.entries()) {
    const before = open.join('')
    // The text has no `<`: the highlighter escapes it.
    for (let from = line.indexOf('<'); from >= 0; from = line.indexOf('<', from + 1)) {
      if (line[from + 1] === '/') open.pop()
      else open.push(line.slice(from, line.indexOf('>', from) + 1))
    }
    if (before !== '' || open.length > 0) lines[at] = before + line + '</span>'.repeat(open.length)
  }
  return lines
}
