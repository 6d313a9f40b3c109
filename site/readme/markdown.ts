import MarkdownIt from 'markdown-it'
import footnote from 'markdown-it-footnote'
import { fenceLanguage, highlight } from '../elements/highlight.ts'
import { alerts, cellAlignment, headingIds, linkBudget, taskList } from './markdown-rules.ts'

/** With more footnote marks than this, all stay text: the work grows with their square. */
const FOOTNOTES_MAX = 500

/** Longest bare address that becomes a link: to find its end takes the square of its length. */
const URL_MAX = 2000

/** Most bare addresses that are checked in one README; further ones stay text. */
const ADDRESSES_MAX = 5000

/** Characters before an address that decide whether it is one. */
const LOOK_BEHIND = 8

/** Longest run of plain text in which bare e-mail addresses become links, for the same reason. */
const EMAIL_TEXT_MAX = 4096

/** Bare addresses checked so far in the current README. */
let addresses = 0

const plain = renderer()
// The plugin's types are made for the CommonJS build of markdown-it.
const withFootnotes = renderer().use(footnote as unknown as (md: MarkdownIt) => void)

/** GFM's tag filter: these would swallow the text after them, so they are shown as text. */
const FILTERED =
  /<(?=\/?(?:title|textarea|style|xmp|iframe|noembed|noframes|noscript|script|plaintext)\b)/gi

/** GitHub-flavored Markdown as HTML. HTML in the text is still in the result: sanitize it. */
export function markdown(text: string): string {
  addresses = 0
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
  bareLinks(md.linkify)
  for (const rule of ['html_block', 'html_inline'] as const)
    md.renderer.rules[rule] = (tokens, at) => (tokens[at]?.content ?? '').replace(FILTERED, '&lt;')
  md.renderer.rules.table_open = () => '<div class="scroll"><table>\n'
  md.renderer.rules.table_close = () => '</table></div>\n'
  return md.use(alerts).use(taskList).use(headingIds).use(linkBudget).use(cellAlignment)
}

/** Says which bare addresses become links, and bounds the work for each. */
function bareLinks(linkify: MarkdownIt['linkify']): void {
  // A bare `lib.rs` is a file, not a host in Serbia.
  linkify.set({ fuzzyLink: false })
  linkify.add('www.', {
    validate: (text, at) => {
      // GFM: it must begin a word.
      if (!/^$|[\s*_~(]/.test(text.charAt(at - 'www.'.length - 1))) return 0
      const url = `//www.${text.slice(at, at + URL_MAX)}`
      return Math.max(0, linkify.testSchemaAt(url, 'http:', 0) - '//www.'.length)
    },
    normalize: match => {
      match.url = `http://${match.url}`
    },
  })
  const { testSchemaAt, test } = linkify
  linkify.testSchemaAt = (text, schema, at) => {
    if (addresses++ > ADDRESSES_MAX) return 0
    const start = Math.max(0, at - LOOK_BEHIND)
    const part = text.slice(start, at + URL_MAX)
    const length = testSchemaAt.call(linkify, part, schema, at - start)
    return length < URL_MAX ? length : 0
  }
  linkify.test = text => {
    linkify.set({ fuzzyEmail: text.length <= EMAIL_TEXT_MAX })
    return test.call(linkify, text)
  }
}
