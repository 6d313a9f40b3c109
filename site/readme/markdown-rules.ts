import type MarkdownIt from 'markdown-it'
import emoji from 'markdown-it-emoji/lib/data/full.mjs'

/** Adds GFM's task lists: `- [x] text` gets a checkbox. */
export function taskList(md: MarkdownIt): void {
  md.core.ruler.after('inline', 'task-list', state => {
    for (const [at, inline] of state.tokens.entries()) {
      const item = state.tokens[at - 2]
      const text = inline.children?.[0]
      if (inline.type !== 'inline' || item?.type !== 'list_item_open' || text?.type !== 'text')
        continue
      const match = /^\[([ xX])\](?=\s)/.exec(text.content)
      if (match === null) continue
      text.content = text.content.slice(match[0].length)
      item.attrJoin('class', 'task-item')
      const box = new state.Token('html_inline', '', 0)
      box.content = `<input type="checkbox" disabled${match[1] === ' ' ? '' : ' checked'}>`
      inline.children?.unshift(box)
    }
  })
}

const ALERT = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i

type Token = InstanceType<MarkdownIt['core']['State']>['tokens'][number]

/** Adds GitHub's alerts: a quote whose first line is `[!NOTE]` becomes a box with a title. */
export function alerts(md: MarkdownIt): void {
  md.core.ruler.after('block', 'alerts', state => {
    const tokens: Token[] = []
    /** Whether each open quote is an alert. */
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
      heading.content = `<p class="markdown-alert-title">${kind}</p>\n`
      tokens.push(heading)
    }
    state.tokens = tokens
  })
}

/** Removes the kind of alert from a quote's first paragraph; null for an ordinary quote. */
function takeKind(paragraph: Token | undefined, inline: Token | undefined): string | null {
  if (paragraph?.type !== 'paragraph_open' || inline === undefined) return null
  const [line, word] = ALERT.exec(inline.content) ?? []
  if (line === undefined || word === undefined) return null
  inline.content = inline.content.slice(line.length)
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()
}

/** Gives headings the same ids as GitHub, so that a README's own table of contents works. */
export function headingIds(md: MarkdownIt): void {
  md.core.ruler.push('heading-ids', state => {
    const seen = new Map<string, number>()
    for (const [at, token] of state.tokens.entries()) {
      if (token.type !== 'heading_open') continue
      const children = state.tokens[at + 1]?.children ?? []
      const slug = children
        .map(child => (child.type === 'text' || child.type === 'code_inline' ? child.content : ''))
        .join('')
        .slice(0, 200)
        .toLowerCase()
        .trim()
        .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
        .replaceAll(' ', '-')
      let [id, count] = [slug, seen.get(slug) ?? 0]
      while (seen.has(id)) id = `${slug}-${++count}`
      seen.set(slug, count).set(id, 0)
      token.attrSet('id', id)
    }
  })
}

const EMOJI: ReadonlyMap<string, string> = new Map(Object.entries(emoji))

/**
 * Shows the emoji of names such as `:rocket:`, as GitHub does. The plugin of the package copies all
 * tokens for each one, which takes quadratic time. Ids of headings keep the names, as GitHub's do.
 */
export function emojiNames(md: MarkdownIt): void {
  md.core.ruler.push('emoji-names', state => {
    for (const { children } of state.tokens)
      for (const child of children ?? [])
        if (child.type === 'text')
          child.content = child.content.replaceAll(
            /:([a-z0-9_+-]{1,50}):/g,
            (text, name) => EMOJI.get(name) ?? text,
          )
  })
}

const BUDGET = 512 * 1024

/**
 * Limits the total length of all links: one long link definition, used thousands of times, would
 * turn a small README into gigabytes. Links beyond the limit lose their targets.
 */
export function linkBudget(md: MarkdownIt): void {
  md.core.ruler.push('link-budget', state => {
    let left = BUDGET
    for (const { children } of state.tokens) {
      for (const token of children ?? []) {
        if (token.type !== 'link_open' && token.type !== 'image') continue
        left -= (token.attrs ?? []).reduce((sum, [, value]) => sum + value.length, 0)
        if (left < 0) token.attrs = token.type === 'image' ? [['alt', '']] : []
      }
    }
  })
}

/** Aligns table cells by an attribute, since the sanitizer drops the `style` of markdown-it. */
export function cellAlignment(md: MarkdownIt): void {
  md.core.ruler.push('cell-alignment', state => {
    for (const token of state.tokens) {
      if (token.type !== 'th_open' && token.type !== 'td_open') continue
      const side = /^text-align:(\w+)$/.exec(token.attrGet('style') ?? '')?.[1]
      token.attrs = side === undefined ? null : [['align', side]]
    }
  })
}
