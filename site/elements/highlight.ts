import hljs, { type Grammar, type Mode } from 'highlight.js/lib/core'
import { html, type Markup, raw } from './markup.ts'

/** Longer code is not highlighted, because some grammars take quadratic time. */
export const HIGHLIGHT_MAX = 64 * 1024

/** Nor is code with a longer line: many patterns look ahead to the end of a line at every word. */
const LINE_MAX = 1000

const comment = (begin: unknown, end: unknown, more: object = {}) => {
  return { scope: 'comment', begin, end, contains: [], ...more }
}
/** Comments have no parts of their own: marks such as `FIXME:` would cost more than their colors. */
const PLAIN_COMMENTS = {
  COMMENT: comment,
  C_LINE_COMMENT_MODE: comment('//', '$'),
  C_BLOCK_COMMENT_MODE: comment('/\\*', '\\*/'),
  HASH_COMMENT_MODE: comment('#', '$'),
}

/** Adds a grammar of the library, without its slow parts. */
export function addGrammar(name: string, grammar: Grammar): void {
  hljs.registerLanguage(name, core => {
    const language = grammar(Object.assign(Object.create(core as object), PLAIN_COMMENTS))
    if (name === 'rust') endRawStrings(language)
    return language
  })
}

/** Whether the grammar of a language is loaded. */
export function hasGrammar(name: string): boolean {
  return hljs.getLanguage(name) !== undefined
}

/**
 * Gives Rust's raw strings a begin and an end: the grammar's one pattern for both reads to the end
 * of the code for each that never ends, which takes quadratic time.
 */
function endRawStrings({ contains = [] }: Mode): void {
  const raw = contains
    .flatMap(mode => mode.variants ?? [])
    .find(({ begin }) => begin instanceof RegExp && begin.source.startsWith('b?r(#*)"'))
  if (!raw) throw new Error('the grammar of Rust has other raw strings')
  Object.assign(raw, hljs.END_SAME_AS_BEGIN({ begin: /b?r(#*)"/, end: /"(#*)/ }))
}

/** Colors Markdown line by line: the library's grammar takes cubic time for some texts. */
hljs.registerLanguage('markdown', () => ({
  name: 'Markdown',
  contains: [
    { scope: 'section', begin: /^#{1,6} /, end: /$/ },
    hljs.END_SAME_AS_BEGIN({
      scope: 'code',
      begin: /^ {0,3}(`{3,}|~{3,})/,
      end: /^ {0,3}(`{3,}|~{3,})/,
    }),
    { scope: 'quote', begin: /^ {0,3}>/, end: /$/ },
    { scope: 'bullet', begin: /^[ \t]{0,12}(?:[*+-]|\d{1,9}[.)])(?=[ \t])/ },
    { scope: 'code', begin: /`[^`\n]{1,500}`/ },
    { scope: 'strong', begin: /\*\*[^*\n]{1,500}\*\*/ },
    { scope: 'emphasis', begin: /\*[^*\s][^*\n]{0,500}\*/ },
    { scope: 'link', begin: /\[[^[\]\n]{1,500}\]\([^()\s]{1,500}\)/ },
  ],
}))
/** Renders code as HTML with classes for colors; the text itself stays the same. */
export function highlight(code: string, language: string | null): Markup {
  return code.length > HIGHLIGHT_MAX || hasLongLine(code) ? html`${code}` : color(code, language)
}

/** Does the same for code of any length, which may take long: call it where it can be stopped. */
export function color(code: string, language: string | null): Markup {
  if (language === null || !hasGrammar(language)) return html`${code}`
  return raw(hljs.highlight(code, { language, ignoreIllegals: true }).value)
}

/** No pattern: one would read the rest of the line at each of its characters. */
function hasLongLine(code: string): boolean {
  for (let at = 0, end = 0; end >= 0; at = end + 1) {
    end = code.indexOf('\n', at)
    if ((end < 0 ? code.length : end) - at > LINE_MAX) return true
  }
  return false
}
