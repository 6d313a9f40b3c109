import { fileFragment, readFileAddress } from '../../source/address.ts'
import { IMAGE_PREFIX } from '../../source/content.ts'
import { button, element } from '../element.ts'
import type { Workers } from './task-worker.ts'

interface DocumentPlace extends Workers {
  readonly root: HTMLElement
  readonly paths: readonly string[]
}

const MARKDOWN = /\.(md|markdown|mdown|mdwn|mkd|mkdn|mkdown)$/i

const RENDERED_MAX = 256 * 1024

/**
 * Renders a Markdown file beside its code. Shows the document, or the code when the reader wants it
 * or has chosen lines of it. Null for other and for very long files.
 */
export function documentOf(
  path: string,
  text: string,
  code: HTMLElement,
  place: DocumentPlace,
): HTMLElement | null {
  if (!MARKDOWN.test(path) || text.length > RENDERED_MAX) return null
  const document = element('section', {}, element('p', { className: 'quiet' }, 'Rendering …'))
  document.setAttribute('aria-label', 'Rendered')
  document.ariaBusy = 'true'
  const source = element('section', {}, code)
  source.setAttribute('aria-label', 'Source')
  const show = (isRendered: boolean) => {
    document.hidden = !isRendered
    source.hidden = isRendered
    rendered.setAttribute('aria-pressed', String(isRendered))
    plain.setAttribute('aria-pressed', String(!isRendered))
  }
  const rendered = button('Rendered', () => show(true))
  const plain = button('Source', () => show(false))
  show(readFileAddress(location.hash)?.lines == null)
  void render(path, text, place).then(
    content => {
      document.replaceChildren(content)
      // The script of every page adds its buttons.
      dispatchEvent(new Event('readme'))
      document.ariaBusy = 'false'
    },
    () => {
      document.ariaBusy = 'false'
      show(false)
      rendered.disabled = true
      rendered.title = 'It takes too long to render.'
    },
  )
  const views = element('div', { className: 'views' }, rendered, plain)
  return element('div', {}, views, document, source)
}

async function render(path: string, text: string, place: DocumentPlace): Promise<Node> {
  const { root, paths, render: worker } = place
  const { repository, vcsPath, images = 'link' } = root.dataset
  const html = await worker.ask('document', {
    path,
    text,
    repository: repository || null,
    vcsPath: vcsPath || null,
    images: images as 'link',
    paths,
    addresses: paths.map(path => fileFragment({ path, lines: null })),
  })
  // In a template nothing is loaded yet. The HTML is the sanitizer's.
  const template = element('template', { innerHTML: html })
  for (const image of template.content.querySelectorAll('img, source'))
    await fillImage(image, place)
  for (const link of template.content.querySelectorAll<HTMLAnchorElement>('a[href^="#"]'))
    link.addEventListener('click', event => showTarget(event, link))
  return template.content
}

/** Gives an image of the package its bytes, for which the sanitizer has left a prefix. */
async function fillImage(image: Element, { root, archive }: DocumentPlace): Promise<void> {
  const attribute = image.localName === 'img' ? 'src' : 'srcset'
  const address = image.getAttribute(attribute) ?? ''
  if (!address.startsWith(IMAGE_PREFIX)) return
  const path = address.slice(IMAGE_PREFIX.length).replaceAll('%2C', ',')
  const content = await archive.ask('content', { version: root.dataset.version ?? '', path })
  if (content.kind !== 'image') image.removeAttribute(attribute)
  else {
    const blob = new Blob([content.bytes as BlobPart], { type: content.type })
    image.setAttribute(attribute, URL.createObjectURL(blob))
  }
}

/** Goes to a part of the document itself: the fragment of the address names the file. */
function showTarget(event: Event, link: HTMLAnchorElement): void {
  const target = document.getElementById(decodeURIComponent(link.hash.slice(1)))
  if (target === null) return
  event.preventDefault()
  target.scrollIntoView()
}
