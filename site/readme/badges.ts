/** Hosts that serve only badges. */
const HOSTS = new RegExp(
  `(^|\\.)(${[
    'shields\\.io',
    'badgen\\.net',
    'badge\\.fury\\.io',
    'badges\\.gitter\\.im',
    'travis-ci\\.(org|com)',
    'meritbadge\\.herokuapp\\.com',
    'isitmaintained\\.com',
    'coveralls\\.io',
    'codecov\\.io',
    'api\\.codacy\\.com',
    'api\\.cirrus-ci\\.com',
    'scan\\.coverity\\.com',
    'snyk\\.io',
    'deps\\.rs',
    'tokei\\.rs',
    'badge(s|r|n)?\\.[a-z0-9.-]+',
    'img\\.badgesize\\.io',
    'visitor-badge\\.[a-z0-9.-]+',
  ].join('|')})$`,
)

/** Paths of badges on hosts that serve other things too. */
const PATHS = new RegExp(
  [
    '(^|[/_.-])(badges?|shields?|meritbadge)([/_.-]|$)',
    '/(actions/)?workflows/[^/]+/',
    '/(build[-_]?)?status(\\.svg|\\.png|/|$)',
    '/_apis/build/status',
    '/(pipeline|coverage|release)\\.svg$',
    '^/(gh|bb|gl)/.*\\.svg$',
  ].join('|'),
  'i',
)

/**
 * Whether an image is a badge: a picture of a state, such as a build's, that says nothing unless it
 * is loaded. Badges are recognized by known hosts and the usual forms of their URLs.
 */
export function isBadge(src: string): boolean {
  const text = src.startsWith('//') ? `https:${src}` : src
  if (!/^https?:/i.test(text)) return PATHS.test(text.replace(/[?#].*$/s, ''))
  if (!URL.canParse(text)) return false
  const { hostname, pathname } = new URL(text)
  return HOSTS.test(hostname) || PATHS.test(pathname)
}
