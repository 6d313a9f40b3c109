import MarkdownIt from 'markdown-it'
import footnote from 'markdown-it-footnote'
import { highlight } from '../elements/highlight.ts'
import { fenceLanguage } from '../elements/languages.ts'
import {
  alerts,
  cellAlignment,
  emojiNames,
  headingIds,
  linkBudget,
  taskList,
} from './markdown-rules.ts'

/** Above this many footnote marks none is rendered: the work grows with their square. */
const FOOTNOTES_MAX = 500

/** Longest bare URL that becomes a link: finding its end takes quadratic time. */
const URL_MAX = 2000

/** Maximum number of bare URLs that are checked in one README; the others stay text. */
const ADDRESSES_MAX = 5000

/** Number of characters before a bare URL that decide whether it is one. */
const LOOK_BEHIND = 8

/** Longest text in which bare e-mail addresses become links: the search takes quadratic time. */
const EMAIL_TEXT_MAX = 4096

/** Number of bare URLs checked so far in the current README. */
let addresses = 0

const plain = renderer()
// The plugin's types are for the CommonJS build of markdown-it.
const withFootnotes = renderer().use(footnote as unknown as (md: MarkdownIt) => void)

/** GFM's tag filter: these tags would swallow the text after them, so they are shown as text. */
const FILTERED =
  /<(?=\/?(?:title|textarea|style|xmp|iframe|noembed|noframes|noscript|script|plaintext)\b)/gi

/** Renders GitHub-flavored Markdown. HTML in the text is kept, so the result must be sanitized. */
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
  // The sanitizer refuses links, and shows their text instead of their Markdown.
  md.validateLink = () => true
  for (const rule of ['html_block', 'html_inline'] as const)
    md.renderer.rules[rule] = (tokens, at) => (tokens[at]?.content ?? '').replace(FILTERED, '&lt;')
  md.renderer.rules.table_open = () => '<div class="scroll"><table>\n'
  md.renderer.rules.table_close = () => '</table></div>\n'
  return md
    .use(alerts)
    .use(taskList)
    .use(headingIds)
    .use(linkBudget)
    .use(cellAlignment)
    .use(emojiNames)
}

/** Configures which bare URLs become links, and limits the work for each. */
function bareLinks(linkify: MarkdownIt['linkify']): void {
  // A bare `lib.rs` is a file name, not a host in Serbia.
  linkify.set({ fuzzyLink: false })
  linkify.add('www.', {
    validate: (text, at) => {
      // GFM: `www.` must begin a word.
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
