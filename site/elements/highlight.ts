import hljs, { type Grammar } from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import makefile from 'highlight.js/lib/languages/makefile'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import shell from 'highlight.js/lib/languages/shell'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { html, type Markup, raw } from './markup.ts'

/** Code longer than this is shown plain, so that no grammar gets the time to go quadratic. */
export const HIGHLIGHT_MAX = 64 * 1024

const LANGUAGES: Readonly<Record<string, Grammar>> = {
  rust,
  toml: ini,
  bash,
  shell,
  json,
  yaml,
  c,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  javascript,
  makefile,
  markdown,
  python,
  sql,
  typescript,
  xml,
}
for (const [name, grammar] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, grammar)

const BY_EXTENSION: Readonly<Record<string, string>> = {
  rs: 'rust',
  lock: 'toml',
  sh: 'bash',
  yml: 'yaml',
  h: 'c',
  cc: 'cpp',
  hpp: 'cpp',
  patch: 'diff',
  js: 'javascript',
  mjs: 'javascript',
  ts: 'typescript',
  md: 'markdown',
  py: 'python',
  html: 'xml',
  svg: 'xml',
  ini: 'toml',
  mk: 'makefile',
}

/** Words that rustdoc allows after a fence, alone or after a comma, and that mean Rust. */
const RUSTDOC =
  /^(should_panic|no_run|ignore|compile_fail|edition\d{4}|standalone_crate|test_harness)$/

/** Language of a fenced block from its info string (`rust,no_run`); null when there is no grammar for it. */
export function fenceLanguage(info: string): string | null {
  const word = (/^[^\s,{]*/.exec(info.trim())?.[0] ?? '').toLowerCase()
  return RUSTDOC.test(word) ? 'rust' : known(word)
}

/** Language of a file by its name; null when there is no grammar for it. */
export function fileLanguage(path: string): string | null {
  const file = (path.split('/').at(-1) ?? '').toLowerCase()
  return file.includes('.') ? known(file.slice(file.lastIndexOf('.') + 1)) : known(file)
}

function known(word: string): string | null {
  const name = Object.hasOwn(BY_EXTENSION, word) ? (BY_EXTENSION[word] ?? word) : word
  return hljs.getLanguage(name) === undefined ? null : name
}

/** Code as HTML in which classes say what is what; the text stays the same, whatever the language. */
export function highlight(code: string, language: string | null): Markup {
  if (language === null || code.length > HIGHLIGHT_MAX) return html`${code}`
  return raw(hljs.highlight(code, { language, ignoreIllegals: true }).value)
}
