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

// biome-ignore format: a table has a line for each setting
export const pagesRows = {
  source: row(flag, true, 'Whether there are pages that show the files of every `.crate` and compare versions.'),
  images: row(choice('link', 'load'), 'link', 'Images from other hosts in READMEs: "link" links to them and leaves badges out, "load" has browsers load them, which tells those hosts who is reading. Images inside the package are always shown.'),
  logo: row(maybe(ownPath), null, 'Picture at the top of every page; replaces the built-in one.'),
  stylesheet: row(maybe(ownPath), null, 'Stylesheet loaded after the built-in one.'),
  links: row(list(siteLink), [], 'Links at the top of every page.'),
  registries: row(list(foreignRegistry), [], 'Other registries, so that lists of dependencies can link to their crates.'),
  docs: row(maybe(docsUrl), null, 'Where pages link to for a library that names no documentation. Without it, crates that were imported from crates.io link to docs.rs.'),
  footer: row(maybe(line(500)), null, 'Text at the bottom of every page; without it, the description of the registry.'),
}
