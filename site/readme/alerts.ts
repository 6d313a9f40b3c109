import type MarkdownIt from 'markdown-it'

const KINDS: Readonly<Record<string, string>> = {
  NOTE: 'Note',
  TIP: 'Tip',
  IMPORTANT: 'Important',
  WARNING: 'Warning',
  CAUTION: 'Caution',
}

/** GitHub's alerts: a quote whose first line is `[!NOTE]` becomes a box with a title. */
export function alerts(md: MarkdownIt): void {
  md.core.ruler.after('block', 'alerts', state => {
    const { tokens } = state
    for (let at = 0; at + 2 < tokens.length; at++) {
      const [quote, paragraph, inline] = [tokens[at], tokens[at + 1], tokens[at + 2]]
      if (
        quote?.type !== 'blockquote_open' ||
        paragraph?.type !== 'paragraph_open' ||
        inline === undefined
      )
        continue
      const match = /^\[!(\w+)\][ \t]*(?:\n|$)/.exec(inline.content)
      const kind = (match?.[1] ?? '').toUpperCase()
      const title = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
      if (match === null || title === undefined) continue
      const end = tokens.findIndex(
        (one, index) => index > at && one.type === 'blockquote_close' && one.level === quote.level,
      )
      const close = tokens[end]
      if (close === undefined) continue
      quote.tag = 'div'
      quote.attrJoin('class', `markdown-alert markdown-alert-${kind.toLowerCase()}`)
      close.tag = 'div'
      const heading = new state.Token('html_block', '', 0)
      heading.content = `<p class="markdown-alert-title">${title}</p>\n`
      inline.content = inline.content.slice(match[0].length)
      tokens.splice(at + 1, 0, heading)
    }
  })
}
