import type MarkdownIt from 'markdown-it'

/** Gives headings the ids that GitHub gives them, so that a README's own table of contents works. */
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
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      token.attrSet('id', count === 0 ? slug : `${slug}-${count}`)
    }
  })
}
