import type { SiteConfig } from '../site-config.ts'

/**
 * The Content-Security-Policy: a page loads its own files and nothing else. Every page has it as a
 * `<meta>`, because plain file servers send no headers. A server that does adds `frame-ancestors`,
 * which browsers ignore in a `<meta>`.
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
