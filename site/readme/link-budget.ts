import type MarkdownIt from 'markdown-it'

/** Characters that all links of one README may have together. */
const BUDGET = 512 * 1024

/**
 * One long link definition, used thousands of times, would make gigabytes of a small README:
 * when the budget is used up, further links lose their target.
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
