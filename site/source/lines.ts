/** The most lines and about the most characters of a block of code, which is laid out at once. */
const BLOCK_LINES = 500
const BLOCK_CHARACTERS = 8000

/** A longer line is cut: browsers take long to lay it out. */
export const LINE_MAX = 2000

export interface Block {
  readonly html: string
  readonly lines: number
}

/**
 * Names characters that could disguise code: those without a width, those that change the direction
 * of text, and carriage returns within a line. Cuts very long lines.
 */
export function visible(code: string): string {
  return code
    .replace(/\r(?=\n|$)/g, '')
    .replace(/[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\r]/g, character => {
      return `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`
    })
    .replace(new RegExp(`^(.{${LINE_MAX}}).+$`, 'gm'), '$1 …')
}

/** Puts lines of HTML into blocks, whose sizes are those of the text of the lines. */
export function blocksOf(lines: readonly string[], texts = lines): Block[] {
  const blocks: Block[] = []
  let [from, length] = [0, 0]
  for (let end = 1; end <= lines.length; end++) {
    length += texts[end - 1]?.length ?? 0
    const isFull = end - from === BLOCK_LINES || length >= BLOCK_CHARACTERS
    if (!isFull && end < lines.length) continue
    blocks.push({ html: `${lines.slice(from, end).join('\n')}\n`, lines: end - from })
    ;[from, length] = [end, 0]
  }
  return blocks
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
