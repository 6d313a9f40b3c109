import MarkdownIt from 'markdown-it'
import footnote from 'markdown-it-footnote'
import { fenceLanguage, highlight } from '../elements/highlight.ts'
import { alerts } from './alerts.ts'
import { cellAlignment } from './cell-alignment.ts'
import { headingIds } from './heading-ids.ts'
import { linkBudget } from './link-budget.ts'
import { taskList } from './task-list.ts'

/** More footnote marks than this and they stay text: the work for them grows with their square. */
const FOOTNOTES_MAX = 500

/** Longer than this no bare `www.` address is. */
const URL_MAX = 2000

const plain = renderer()
// The plugin's types are made for the CommonJS build of markdown-it.
const withFootnotes = renderer().use(footnote as unknown as (md: MarkdownIt) => void)

/** GFM's tag filter: these would swallow the text after them, so they are shown as they were written. */
const FILTERED =
  /<(?=\/?(?:title|textarea|style|xmp|iframe|noembed|noframes|noscript|script|plaintext)\b)/gi

/** GitHub-flavoured Markdown as HTML. What the text has of HTML is still in it: sanitise the result. */
export function markdown(text: string): string {
  const marks = text.match(/\[\^|\^\[/g)?.length ?? 0
  return (marks > 0 && marks <= FOOTNOTES_MAX ? withFootnotes : plain).render(text)
}

function renderer(): MarkdownIt {
  const md = new MarkdownIt({
    html: true,
    linkify: true,
    maxNesting: 50,
    highlight: (code, info) => {
      const language = fenceLanguage(info)
      const named = language === null ? '' : ` class="language-${language}"`
      return `<pre><code${named}>${highlight(code, language).toString()}</code></pre>`
    },
  } as ConstructorParameters<typeof MarkdownIt>[0] & { maxNesting: number })
  // A bare `lib.rs` is a file, not a host in Serbia.
  md.linkify.set({ fuzzyLink: false })
  md.linkify.add('www.', {
    validate: (text, at, linkify) => {
      // By GFM it begins a word; with every dot as a beginning, the work would grow with the square of the text.
      if (!/^$|[\s*_~(]/.test(text.charAt(at - 'www.'.length - 1))) return 0
      const url = `http://www.${text.slice(at, at + URL_MAX)}`
      return Math.max(0, linkify.testSchemaAt(url, 'http:', 'http:'.length) - '//www.'.length)
    },
    normalize: match => {
      match.url = `http://${match.url}`
    },
  })
  for (const rule of ['html_block', 'html_inline'] as const)
    md.renderer.rules[rule] = (tokens, at) => (tokens[at]?.content ?? '').replace(FILTERED, '&lt;')
  md.renderer.rules.table_open = () => '<div class="scroll"><table>\n'
  md.renderer.rules.table_close = () => '</table></div>\n'
  return md.use(alerts).use(taskList).use(headingIds).use(linkBudget).use(cellAlignment)
}
