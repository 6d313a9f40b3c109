import { createRequire } from 'node:module'
import hljs, { type Grammar, type Mode } from 'highlight.js/lib/core'
import { html, type Markup, raw } from './markup.ts'

/** Longer code is not highlighted, because some grammars take quadratic time. */
export const HIGHLIGHT_MAX = 64 * 1024

/** Nor is code with a longer line: many patterns look ahead to the end of a line at every word. */
const LINE_MAX = 1000

const GRAMMARS = `bash c cpp css diff dockerfile go ini javascript json makefile python
  rust shell sql typescript xml yaml`
const load = createRequire(import.meta.url)
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
for (const name of GRAMMARS.split(/\s+/)) {
  const grammar: Grammar = load(`highlight.js/lib/languages/${name}`)
  const plain: Grammar = core => {
    const language = grammar(Object.assign(Object.create(core as object), PLAIN_COMMENTS))
    if (name === 'rust') endRawStrings(language)
    return language
  }
  hljs.registerLanguage(name === 'ini' ? 'toml' : name, plain)
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

/**
 * Colors of Markdown, each ended by its line. The library's grammar nests emphasis, links and HTML,
 * and takes cubic time for some text.
 */
hljs.registerLanguage('markdown', () => ({
  name: 'Markdown',
  aliases: ['md', 'mkd', 'mkdown'],
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
hljs.registerAliases(['ini', 'lock'], { languageName: 'toml' })

/** Words that rustdoc allows after a fence, alone or after a comma, for Rust code. */
const RUSTDOC =
  /^(should_panic|no_run|ignore|compile_fail|edition\d{4}|standalone_crate|test_harness)$/

/** Returns the language of a fenced block by its info string (`rust,no_run`); null if unknown. */
export function fenceLanguage(info: string): string | null {
  const word = (/^[^\s,{]*/.exec(info.trim())?.[0] ?? '').toLowerCase()
  return RUSTDOC.test(word) ? 'rust' : known(word)
}

/** Returns the language of a file by its name; null without a grammar for it. */
export function fileLanguage(path: string): string | null {
  const file = (path.split('/').at(-1) ?? '').toLowerCase()
  return file.includes('.') ? known(file.slice(file.lastIndexOf('.') + 1)) : known(file)
}

/** Returns the grammar for a name or alias, such as a file extension; null without one. */
function known(word: string): string | null {
  const grammar = hljs.getLanguage(word)
  return hljs.listLanguages().find(name => hljs.getLanguage(name) === grammar) ?? null
}

/** Renders code as HTML with classes for colors; the text itself stays the same. */
export function highlight(code: string, language: string | null): Markup {
  if (language === null || code.length > HIGHLIGHT_MAX || hasLongLine(code)) return html`${code}`
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
