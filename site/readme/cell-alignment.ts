import type MarkdownIt from 'markdown-it'

/** Says the alignment of table cells in an attribute: the `style` that markdown-it writes does not pass the sanitiser. */
export function cellAlignment(md: MarkdownIt): void {
  md.core.ruler.push('cell-alignment', state => {
    for (const token of state.tokens) {
      if (token.type !== 'th_open' && token.type !== 'td_open') continue
      const side = /^text-align:(\w+)$/.exec(token.attrGet('style') ?? '')?.[1]
      token.attrs = side === undefined ? null : [['align', side]]
    }
  })
}
