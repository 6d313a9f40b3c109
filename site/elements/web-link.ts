/** An `http` or `https` URL that others gave, in normal form; null for anything else (`javascript:`, `data:`, no URL). */
export function webLink(text: string | null): string | null {
  if (text === null || text.length > 2000) return null
  let url: URL
  try {
    url = new URL(text.trim())
  } catch {
    return null // not a URL: shown as text, never linked
  }
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null
}

/** What to call a link: the host and path, without what every URL has. */
export function webLinkText(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname === '/' ? '' : pathname.replace(/\/$/, '')}`
}
