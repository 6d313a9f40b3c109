/** Hosts that serve only badges, or no pictures beside them. */
const HOSTS = new RegExp(
  `(^|\\.)(${`shields.io badgen.net badge.fury.io badges.gitter.im travis-ci.org travis-ci.com
    meritbadge.herokuapp.com isitmaintained.com coveralls.io codecov.io codacy.com cirrus-ci.com
    circleci.com ci.appveyor.com app.fossa.com dev.azure.com visualstudio.com scan.coverity.com
    snyk.io deps.rs tokei.rs zenodo.org sonarcloud.io repology.org builds.sr.ht pre-commit.ci
    api.reuse.software img.badgesize.io`
    .replaceAll('.', '\\.')
    .replace(/\s+/g, '|')}|(?:badge[srn]?|visitor-badge)\\.[a-z0-9.-]+)$`,
)

/** The last part of a badge's path, on whatever host: folders may have any name. */
const LAST = new RegExp(
  [
    '^(?:(?:.*[_.-])?badges?|(?:build[-_]?)?status)(?:\\.svg|\\.png)?$',
    '^(?:pipeline|coverage|release)\\.svg$',
  ].join('|'),
  'i',
)

/**
 * Whether an image is a badge: a picture of a state, such as a build's, that says nothing unless it
 * is loaded. Badges are recognized by known hosts, or the last part of their path.
 */
export function isBadge(src: string): boolean {
  const text = src.startsWith('//') ? `https:${src}` : src
  if (!URL.canParse(text, 'https://package.invalid')) return false
  const { hostname, pathname } = new URL(text, 'https://package.invalid')
  return HOSTS.test(hostname) || LAST.test(pathname.slice(pathname.lastIndexOf('/') + 1))
}
