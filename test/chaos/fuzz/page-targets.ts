import { parseFragment } from 'parse5'
import { checkImage } from '../../../generator/sandbox/image-task.ts'
import { LineDiffs, linesOf } from '../../../site/compare/line-diff.ts'
import { highlight } from '../../../site/elements/highlight.ts'
import { fileLanguage } from '../../../site/elements/languages.ts'
import { renderReadme } from '../../../site/readme/readme.ts'
import { sanitize } from '../../../site/readme/sanitize.ts'
import { cleanSvg } from '../../../site/readme/svg.ts'
import { splitLines, visible } from '../../../site/source/lines.ts'
import { BOMBS, PAYLOADS } from '../../support/hostile.ts'
import { ensure } from '../run.ts'
import { SANDBOXED_MS, type Target } from './target.ts'

/** Extensions of files whose code has colors; the first byte of a case chooses one. */
const EXTENSIONS =
  'rs toml md json sh yml c cpp js ts py xml css sql go diff mk txt dockerfile'.split(' ')

/** Images by how they begin. */
const IMAGES = [
  '89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61',
  'ffd8ffe000104a46494600010100000100010000ffc0001108001000100301220002110103110100',
  'ffd8ffe1001845786966000049492a00080000000100120103000100000006000000',
  '474946383961100010008000000000000000002c',
  '524946462400000057454250565038580a000000000000000f00000f0000',
  '0000001c667479706176696600000000617669666d6966316d6961660000',
].map(hex => Buffer.from(hex, 'hex'))

/** Targets whose results pages show. */
export const PAGE_TARGETS: Readonly<Record<string, Target>> = {
  markdown: {
    share: 25,
    budget: SANDBOXED_MS,
    seeds: [...PAYLOADS, ...Object.values(BOMBS).map(text => text.slice(0, 2000))],
    run: input => {
      const about = { repository: 'https://github.com/a/b', vcs_path: '', readme_file: 'README.md' }
      harmless(renderReadme({ text: input.toString(), about, images: 'load' }).html)
    },
  },
  svg: {
    share: 25,
    budget: SANDBOXED_MS,
    seeds: PAYLOADS.map(text => `<svg><g id="a" fill="url(#b)"/>${text}</svg>`),
    run: input => {
      const { svg = '' } = cleanSvg(input.toString()) ?? {}
      for (const { tagName = '', attrs = [] } of nodesIn(svg)) {
        const isBad = attrs.some(
          ({ name, value }) =>
            /^on/i.test(name) || (/(?:href|src)$/i.test(name) && !value.startsWith('#')),
        )
        ensure(
          !isBad &&
            !/^(?:script|a|image|foreignObject|iframe|set|use|style|pattern|mask|marker|filter)$/i.test(
              tagName,
            ),
          `an SVG keeps too much in <${tagName}>: ${svg.slice(0, 500)}`,
        )
      }
    },
  },
  html: {
    share: 25,
    budget: SANDBOXED_MS,
    seeds: PAYLOADS,
    run: input => {
      const options = { base: null, folder: '', images: 'load', packaged: new Map() } as const
      harmless(sanitize(input.toString(), options).html)
    },
  },
  image: {
    share: 60,
    seeds: [...IMAGES, '<svg width="1" height="1"/>'],
    run: input => {
      const image = checkImage(input)
      if ('problem' in image) return
      ensure(/^[0-9a-f]{64}\.[a-z]+$/.test(image.name), `an image has the name ${image.name}`)
      for (const side of [image.width, image.height])
        ensure(side === null || Number.isFinite(side), `an image has a side of ${side}`)
    },
  },
  source: {
    share: 40,
    budget: SANDBOXED_MS,
    seeds: EXTENSIONS.map((_, at) => `${String.fromCharCode(at)}fn a<'b>("\\"") /* <!-- [[`),
    run: input => {
      const extension = EXTENSIONS[(input[0] ?? 0) % EXTENSIONS.length]
      const code = input.toString('utf8', 1)
      const html = highlight(visible(code), fileLanguage(`a.${extension}`)).toString()
      for (const line of splitLines(html)) harmless(line)
    },
  },
  diff: {
    share: 30,
    budget: SANDBOXED_MS,
    seeds: ['a\nb\nc\0a\nc\nd', `${'a\n'.repeat(999)}\0${'b\na\n'.repeat(999)}`, '\0', 'a\0b\n'],
    run: input => {
      const [before = '', after = ''] = input.toString().split('\0')
      const diff = new LineDiffs().compare(before, after)
      const more = linesOf(after).length - linesOf(before).length
      ensure(
        diff.added - diff.removed === more,
        `+${diff.added} -${diff.removed} for ${more} lines`,
      )
      for (const { lines } of diff.hunks()) ensure(lines.length > 0, 'a part without lines')
    },
  },
}

const ALLOWED_SCHEME = /^(?:https?:|mailto:|#)/i

interface Node {
  readonly tagName?: string
  readonly attrs?: readonly { readonly name: string; readonly value: string }[]
  readonly childNodes?: readonly Node[]
}

/** Fails unless HTML, as browsers read it, runs nothing and loads nothing but images. */
function harmless(html: string): void {
  for (const node of nodesIn(html)) {
    const bad = /^(?:script|style|iframe|object|embed|form|base|meta|link|svg|math|template|title)$/
    ensure(!bad.test(node.tagName ?? ''), `<${node.tagName}> gets through: ${html.slice(0, 500)}`)
    for (const { name, value } of node.attrs ?? []) {
      ensure(!/^on|^style$|^srcdoc$/i.test(name), `${name} gets through: ${html.slice(0, 500)}`)
      const isLink = /^(?:href|src|action|formaction|cite|poster)$/.test(name)
      ensure(!isLink || ALLOWED_SCHEME.test(value), `${name}=${value} gets through`)
    }
  }
}

/** Yields the nodes of HTML as browsers read it. */
function* nodesIn(html: string): Generator<Node> {
  const open: Node[] = [parseFragment(html) as Node]
  for (let node = open.pop(); node; node = open.pop()) {
    yield node
    open.push(...(node.childNodes ?? []))
  }
}
