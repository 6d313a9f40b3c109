import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFragment } from 'parse5'
import sanitizeHtml from 'sanitize-html'
import {
  ATTRIBUTES,
  DROPPED,
  GLOBAL_ATTRIBUTES,
  IDENTIFIED,
  TAGS,
} from '../../site/readme/allowed.ts'
import { renderReadme } from '../../site/readme/readme.ts'
import { KEEL_README } from '../support/demo-facts.ts'
import { BOMBS, PAYLOADS } from '../support/hostile.ts'
import { hostileTexts } from '../support/hostile-texts.ts'

/** Attributes that our sanitizer checks or writes by itself, by element. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'rel'],
  div: ['aria-label', 'role', 'tabindex'],
  img: ['alt', 'loading', 'referrerpolicy', 'src'],
  input: ['aria-label', 'checked', 'disabled', 'type'],
  pre: ['tabindex'],
  source: ['srcset'],
}

/** Our lists in the words of another sanitizer. */
const RULES: sanitizeHtml.IOptions = {
  allowedTags: [...TAGS],
  allowedAttributes: Object.fromEntries(
    [...TAGS].map(tag => [
      tag,
      [
        ...['class', ...GLOBAL_ATTRIBUTES],
        ...(ATTRIBUTES.get(tag) ?? []),
        ...(OWN[tag] ?? []),
        ...(IDENTIFIED.has(tag) ? ['id'] : []),
      ],
    ]),
  ),
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesAppliedToAttributes: ['href', 'src', 'srcset'],
  nonTextTags: [...DROPPED],
}

const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['a README', KEEL_README],
  ...PAYLOADS.map((text, at) => [`payload ${at}`, text] as const),
  ['all payloads', PAYLOADS.join('\n\n')],
  ...Object.entries(BOMBS).map(([what, text]) => [what, text.slice(0, 4096)] as const),
  ...hostileTexts(300, 1, 4096).map((text, at) => [`generated ${at}`, text] as const),
]

test('sanitize-html, given the same lists, finds nothing to take out of a rendered README', () => {
  for (const [what, text] of TEXTS) {
    for (const repository of [null, 'https://github.com/example/keel']) {
      const readme = { text, about: { readme_file: 'README.md', repository } }
      for (const images of ['link', 'load'] as const) {
        const { html } = renderReadme({ ...readme, images })
        assert.deepEqual(contents(sanitizeHtml(html, RULES)), contents(html), what)
      }
    }
  }
})

test('what sanitize-html takes out of hostile HTML is gone here, too', () => {
  const given = { about: { readme_file: 'README.md', repository: null }, images: 'load' } as const
  for (const [at, text] of PAYLOADS.entries()) {
    const dangerous = contents(text).filter(
      part => !contents(sanitizeHtml(text, RULES)).includes(part),
    )
    const left = contents(renderReadme({ ...given, text }).html)
    // A heading becomes one of the next level, which the list has.
    const survivors = dangerous.filter(part => left.includes(part) && !/^h\d/.test(part))
    assert.deepEqual(survivors, [], `payload ${at}`)
  }
})

/** A browser's view of HTML: each element, attribute and link. */
function contents(html: string): string[] {
  const found = new Set<string>()
  const waiting = [...parseFragment(html).childNodes]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!('tagName' in node)) continue
    found.add(node.tagName)
    for (const { name, value } of node.attrs) {
      const isLink = name === 'href' || name === 'src' || name === 'srcset'
      found.add(`${node.tagName} ${name}${isLink ? ` ${value}` : ''}`)
    }
    waiting.push(...node.childNodes)
  }
  return [...found].sort()
}
