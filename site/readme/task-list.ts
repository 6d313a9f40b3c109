import type MarkdownIt from 'markdown-it'

/** GFM's task lists: `- [x] text` gets a box that shows its state. */
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
