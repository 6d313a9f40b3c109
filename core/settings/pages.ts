import { choice, flag, hasScheme, isLine, line, list, maybe, row, text } from './kind.ts'

/** A file of this site, because the content security policy of the pages allows no other. */
const ownPath = text('a path below the base URL, such as "brand/logo.svg"', value =>
  /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(value),
)

const siteLink = text(
  'a text and a URL, such as "Handbook https://wiki.example.com/crates"',
  value => {
    const [, url = ''] = / (\S+)$/.exec(value) ?? []
    return value.length <= 500 && isLine(value) && hasScheme(url, 'http', 'https')
  },
)

const foreignRegistry = text(
  'a title, an index URL and the URL of a crate there, such as "Our Mirror sparse+https://mirror.example.com/index/ https://mirror.example.com/crates/{crate}/"',
  value => {
    const [, title = '', index = '', page = ''] = /^(.*\S) +(\S+) +(\S+)$/.exec(value) ?? []
    const urls = [index.replace(/^sparse\+/, ''), page]
    return (
      title.length <= 100 && isLine(title) && urls.every(url => hasScheme(url, 'http', 'https'))
    )
  },
)

const docsUrl = text(
  'an http or https URL with {crate} and perhaps {version}, such as "https://docs.rs/{crate}/{version}"',
  value => {
    const url = value.replaceAll('{version}', '1.0.0').replaceAll('{crate}', 'x')
    return (
      value.includes('{crate}') &&
      !/[{}]/.test(url) &&
      isLine(value) &&
      hasScheme(url, 'http', 'https')
    )
  },
)

export const pagesRows = {
  source: row(flag, true),
  images: row(choice('link', 'load'), 'link'),
  logo: row(maybe(ownPath), null),
  stylesheet: row(maybe(ownPath), null),
  links: row(list(siteLink), []),
  registries: row(list(foreignRegistry), []),
  docs: row(maybe(docsUrl), null),
  footer: row(maybe(line(500)), null),
}
