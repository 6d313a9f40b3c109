import type { LinkBase } from './repository.ts'
import { resolveLink } from './repository.ts'

/** Ids of a README never meet those of the page. */
const ID_PREFIX = 'user-content-'

/** Longest URL that is kept. */
const URL_MAX = 2000

/**
 * A link that may stay: absolute http, https or mailto; a place in the README itself; or a relative
 * one that its repository makes absolute. Null for everything else.
 */
export function safeLink(
  given: string | undefined,
  base: LinkBase | null,
  kind: 'pages' | 'bytes',
): string | null {
  const text = printable(given ?? '').trim()
  if (text === '' || text.length > URL_MAX) return null
  if (text.startsWith('#')) {
    const id = safeId(decoded(text.slice(1)))
    return id === null ? null : `#${encodeURIComponent(id)}`
  }
  const absolute = text.startsWith('//') ? `https:${text}` : text
  if (/^[a-z][a-z0-9+.-]*:/i.test(absolute)) {
    if (!URL.canParse(absolute)) return null
    const url = new URL(absolute)
    // `crate::Type` is meant for rustdoc and has a scheme that nobody knows;
    // `https://…/#impl-fmt::Debug` is a link.
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null
  }
  return base === null || absolute.includes('::') ? null : resolveLink(base, absolute, kind)
}

/** An image's URL; like a link, but only the web has images. */
export function safeImage(given: string | undefined, base: LinkBase | null): string | null {
  const url = safeLink(given, base, 'bytes')
  return url?.startsWith('http') ? url : null
}

/** An id in its own name space; null when nothing is left of it. */
export function safeId(id: string): string | null {
  const clean = id.replace(/[^\p{L}\p{N}_.:-]/gu, '').slice(0, 100)
  if (clean === '') return null
  return clean.startsWith(ID_PREFIX) ? clean : ID_PREFIX + clean
}

/** Browsers skip control characters in a URL's scheme (`java\nscript:`), so they go first. */
function printable(text: string): string {
  return [...text].filter(character => character >= ' ' && character !== '\u007f').join('')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a stray `%` stands for itself
  }
}
