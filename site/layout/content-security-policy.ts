import type { SiteConfig } from '../site-config.ts'

/**
 * The Content-Security-Policy: a page loads its own files and nothing else. Every page has it as a
 * `<meta>`, because plain file servers send no headers. A server that does adds `frame-ancestors`,
 * which browsers ignore in a `<meta>`.
 */
export function contentSecurityPolicy({ images }: Pick<SiteConfig, 'images'>): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    images === 'load' ? "img-src 'self' https:" : "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
  ].join('; ')
}
