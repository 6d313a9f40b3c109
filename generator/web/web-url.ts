/** Parses a URL that may be read, relative to `base`: http or https, without user; else null. */
export function webUrl(text: string, base?: URL): URL | null {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : null
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  return isWeb && url.username === '' && url.password === '' ? url : null
}

/** Returns a URL for messages: without user, query, and control characters for terminals. */
export function plain(url: string): string {
  const open = url.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1').replace(/[?#].*$/s, '')
  return open.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{FFFD}')
}
