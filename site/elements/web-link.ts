/** A stranger's `http` or `https` URL in normal form; null for anything else (`javascript:`, no URL). */
export function webLink(text: string | null): string | null {
  if (text === null || text.length > 2000) return null
  let url: URL
  try {
    url = new URL(text.trim())
  } catch {
    return null // not a URL
  }
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null
}

/** The text of a link: host and path of its URL. */
export function webLinkText(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname === '/' ? '' : pathname.replace(/\/$/, '')}`
}
