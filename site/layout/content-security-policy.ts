import type { SiteConfig } from '../site-config.ts'

/**
 * What a page may load: its own files and nothing else. In every page as a `<meta>`, because a plain file server sends no
 * headers; a server that does should send the same, with `frame-ancestors 'none'` (which a `<meta>` cannot say).
 */
export function contentSecurityPolicy(site: SiteConfig): string {
  const images = site.images === 'load' ? "'self' https:" : "'self'"
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${images}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
  ].join('; ')
}
