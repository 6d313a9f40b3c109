import type MarkdownIt from 'markdown-it'

const KINDS: ReadonlyMap<string, string> = new Map([
  ['NOTE', 'Note'],
  ['TIP', 'Tip'],
  ['IMPORTANT', 'Important'],
  ['WARNING', 'Warning'],
  ['CAUTION', 'Caution'],
])

type Token = InstanceType<MarkdownIt['core']['State']>['tokens'][number]

/** GitHub's alerts: a quote whose first line is `[!NOTE]` becomes a box with a title. */
export function alerts(md: MarkdownIt): void {
  md.core.ruler.after('block', 'alerts', state => {
    const tokens: Token[] = []
    /** For each open quote, whether it is an alert. */
    const open: boolean[] = []
    for (const [at, token] of state.tokens.entries()) {
      tokens.push(token)
      if (token.type === 'blockquote_close' && open.pop()) token.tag = 'div'
      if (token.type !== 'blockquote_open') continue
      const kind = takeKind(state.tokens[at + 1], state.tokens[at + 2])
      open.push(kind !== null)
      if (kind === null) continue
      token.tag = 'div'
      token.attrJoin('class', `markdown-alert markdown-alert-${kind.toLowerCase()}`)
      const heading = new state.Token('html_block', '', 0)
      heading.content = `<p class="markdown-alert-title">${KINDS.get(kind)}</p>\n`
      tokens.push(heading)
    }
    state.tokens = tokens
  })
}

/** The kind of alert that a quote's first paragraph names, taken off it; null for a mere quote. */
function takeKind(paragraph: Token | undefined, inline: Token | undefined): string | null {
  if (paragraph?.type !== 'paragraph_open' || inline === undefined) return null
  const match = /^\[!(\w+)\][ \t]*(?:\n|$)/.exec(inline.content)
  const kind = (match?.[1] ?? '').toUpperCase()
  if (match === null || !KINDS.has(kind)) return null
  inline.content = inline.content.slice(match[0].length)
  return kind
}
