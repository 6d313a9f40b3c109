import { createRequire } from 'node:module'
import hljs, { type Grammar } from 'highlight.js/lib/core'
import { html, type Markup, raw } from './markup.ts'

/** Code longer than this is shown plain, so that no grammar gets the time to go quadratic. */
export const HIGHLIGHT_MAX = 64 * 1024

const GRAMMARS = `bash c cpp css diff dockerfile go ini javascript json makefile markdown python
  rust shell sql typescript xml yaml`
const load = createRequire(import.meta.url)
for (const name of GRAMMARS.split(/\s+/)) {
  const grammar: Grammar = load(`highlight.js/lib/languages/${name}`)
  hljs.registerLanguage(name === 'ini' ? 'toml' : name, grammar)
}
hljs.registerAliases(['ini', 'lock'], { languageName: 'toml' })

/** Words that rustdoc allows after a fence, alone or after a comma, and that mean Rust. */
const RUSTDOC =
  /^(should_panic|no_run|ignore|compile_fail|edition\d{4}|standalone_crate|test_harness)$/

/** Language of a fenced block by its info string (`rust,no_run`); null without a grammar for it. */
export function fenceLanguage(info: string): string | null {
  const word = (/^[^\s,{]*/.exec(info.trim())?.[0] ?? '').toLowerCase()
  return RUSTDOC.test(word) ? 'rust' : known(word)
}

/** Language of a file by its name; null without a grammar for it. */
export function fileLanguage(path: string): string | null {
  const file = (path.split('/').at(-1) ?? '').toLowerCase()
  return file.includes('.') ? known(file.slice(file.lastIndexOf('.') + 1)) : known(file)
}

/** The name of the grammar for a word that may be an alias, such as an extension. */
function known(word: string): string | null {
  const grammar = hljs.getLanguage(word)
  return hljs.listLanguages().find(name => hljs.getLanguage(name) === grammar) ?? null
}

/** Code as HTML with classes for colors; the text itself stays the same. */
export function highlight(code: string, language: string | null): Markup {
  if (language === null || code.length > HIGHLIGHT_MAX) return html`${code}`
  return raw(hljs.highlight(code, { language, ignoreIllegals: true }).value)
}
