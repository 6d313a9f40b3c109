import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SiteFile } from './site-file.ts'

const STYLES = new URL('../../site/assets/', import.meta.url)
const SCRIPTS = new URL('./', import.meta.url)

/** Scripts as the compiler wrote them; they import each other by relative path, so they keep their folders. */
const SCRIPT_NAMES: readonly string[] = [
  'browser/page.js',
  'browser/search-box.js',
  'search/buckets.js',
  'search/lookup.js',
  'search/words.js',
]

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The files of the site's own look and behaviour: part of the program, so they are read once, when it is loaded. */
const contents: readonly [name: string, text: string][] = [
  ...['style.css', 'code.css'].map((name): [string, string] => [name, slimStyle(read(STYLES, name))]),
  ['mark.svg', read(STYLES, 'mark.svg')],
  ...SCRIPT_NAMES.map((name): [string, string] => [name, slimScript(read(SCRIPTS, name))]),
]

/** One folder named by a hash over everything: each file is immutable there, and scripts find each other without rewriting. */
const folder = `assets/${hash(contents)}`

/** All assets of the site, to be written into the public tree. */
export const assets: readonly SiteFile[] = contents.map(([name, text]) => ({
  path: `${folder}/${name}`,
  contentType: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
  body: text,
  cache: 'immutable',
}))

/** Path of an asset; throws on a name there is none of, so a page never asks for a missing file. */
export function assetPath(name: string): string {
  const path = `${folder}/${name}`
  if (!assets.some(asset => asset.path === path)) throw new Error(`the site has no asset ${name}`)
  return path
}

function read(base: URL, name: string): string {
  return readFileSync(new URL(name, base), 'utf8')
}

/** A stylesheet without what a browser does not need. */
function slimStyle(text: string): string {
  return slim(text)
    .replace(/\s*([{};,>])\s*/g, '$1')
    .replace(/([:,]) /g, '$1')
    .replace(/;\}/g, '}')
    .replace(/\b0\./g, '.')
}

/** A script without spaces that say nothing, on lines without strings and regular expressions, where they might. */
function slimScript(text: string): string {
  return slim(text)
    .split('\n')
    .map(line => (/['"`/]/.test(line) ? line : line.replace(/ ?([=,;:?{}()<>&|*]) ?/g, '$1')))
    .join('\n')
}

/** Without comments and indentation: they are for those who read the sources. */
function slim(text: string): string {
  return text
    .replace(/^[ \t]*\/\*[\s\S]*?\*\/[ \t]*\n/gm, '')
    .replace(/^[ \t]*\/\/.*\n?/gm, '')
    .replace(/^\s+/gm, '')
}

function hash(files: readonly [string, string][]): string {
  const sum = createHash('sha256')
  for (const [name, text] of files) sum.update(`${name}\0${text}\0`)
  return sum.digest('hex').slice(0, 12)
}
