const HERE = 'http://here.invalid'

/**
 * The path on this server that a text means, to go on to; null for everything that would lead elsewhere. Read as a
 * browser reads it: `\` is `/`, tabs and line ends are nothing, `/.//host` becomes `//host`.
 */
export function ownPath(text: string | null | undefined): string | null {
  if (!text?.startsWith('/') || text.length > 2000 || !URL.canParse(text, HERE)) return null
  const url = new URL(text, HERE)
  return url.origin === HERE && !url.pathname.startsWith('//') ? url.pathname + url.search : null
}
