import { sourcePath } from '../../core/paths/crates.ts'
import { licensePath } from '../../core/release/release.ts'
import type { VersionData } from '../crate-data.ts'
import { cut } from '../elements/elements.ts'
import type { Linker } from '../elements/links.ts'
import { type Child, html } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { fileFragment } from '../source/address.ts'

const EXPRESSION_MAX = 200

/** Words of the names of license texts that do not say which license it is. */
const GENERIC = /^(?:licen[cs]e|copying|md|txt|rst|html)$/

/**
 * Renders the license of a version. The parts of an SPDX expression link to their texts in the
 * source browser if a file name tells: `Apache-2.0` leads to `LICENSE-APACHE`.
 */
export function licenseText(
  site: Pick<SiteConfig, 'source'>,
  version: VersionData,
  to: Linker,
): Child {
  const { license, name, version: number } = version
  const file = licensePath(version)
  const texts = site.source ? (version.contents?.licenses ?? []) : []
  const link = (shown: string, text: string | undefined): Child =>
    text === undefined
      ? cut(shown, 500)
      : html`<a href="${to(sourcePath(name, number))}${fileFragment({ path: text, lines: null })}">${cut(shown, 500)}</a>`
  const packaged = texts.find(text => text === file)
  if (license === null) return file === null ? 'not stated' : link(file, packaged)
  const parts = license.length > EXPRESSION_MAX ? [] : (license.match(/[\w.+-]+|[^\w.+-]+/g) ?? [])
  const ids = parts.filter(part => /^\w/.test(part) && !/^(?:AND|OR|WITH)$/i.test(part))
  const textById = new Map(ids.map(id => [id, textOf(id, texts)]))
  const isFound = [...textById.values()].some(text => text !== undefined)
  if (!isFound)
    return link(
      license,
      packaged ?? texts.find(text => wordsOf(text).every(word => GENERIC.test(word))),
    )
  return parts.map(part => link(part, textById.get(part)))
}

/** Returns the name of a license's text; if several match, the one with the fewest other words. */
function textOf(id: string, texts: readonly string[]): string | undefined {
  const [word = ''] = id.toLowerCase().split('-')
  const named = word === 'bsl' ? 'boost' : word
  return texts
    .filter(text => wordsOf(text).some(word => [word, word.replace(/\d+$/, '')].includes(named)))
    .sort((a, b) => a.length - b.length)[0]
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[-_.]+/)
}
