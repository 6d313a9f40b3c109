import { parseName } from '../name.ts'
import { expandDl } from '../urls.ts'
import { parseVersion } from '../version.ts'
import type { Kind } from './kind.ts'
import {
  address,
  baseUrl,
  choice,
  crateVersion,
  duration,
  flag,
  indexUrl,
  integer,
  isUnclean,
  line,
  list,
  maybe,
  network,
  parseUrl,
  remote,
  size,
  text,
} from './kind.ts'
import { mainRow, row } from './row.ts'
import { policyRows } from './rules.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const DAY = 86_400
const YEAR = 365 * DAY

const MARKERS = ['{crate}', '{version}', '{prefix}', '{lowerprefix}', '{sha256-checksum}']

/** A release to try `dl` templates with. */
const SAMPLE = { name: parseName('sample'), version: parseVersion('1.0.0'), cksum: '0'.repeat(64) }

/** `dl` of config.json (specification A.1); the client takes http, https and file URLs. */
const dl: Kind<string> = text(
  `"auto" or an absolute http, https or file URL in which only the markers ${MARKERS.join(' ')} are in braces`,
  value => {
    if (value === 'auto') return true
    if (
      isUnclean(value) ||
      (value.match(/\{[^{}]*\}|[{}]/g) ?? []).some(marker => !MARKERS.includes(marker))
    )
      return false
    const sample = expandDl(value, SAMPLE)
    const url = parseUrl(sample)
    return (
      url !== null &&
      ['http:', 'https:', 'file:'].includes(url.protocol) &&
      /^[a-z]+:\/\//i.test(sample)
    )
  },
)

/** Cargo's rule for registry names (`validate_package_name`) within TOML's bare keys; `crates-io` is Cargo's own. */
const registryName: Kind<string> = text(
  'letters, digits, "-" and "_", a letter or "_" first, not "crates-io"',
  value => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(value) && value !== 'crates-io',
)

const file: Kind<string> = text(
  'the path of a file',
  value => value !== '' && !/\p{Cc}/u.test(value),
)

/** A file beside the pages: their content security policy loads no other. */
const ownPath: Kind<string> = text('a path below the base URL, such as "brand/logo.svg"', value =>
  /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(value),
)

const siteLink: Kind<string> = text(
  'a text and a URL, such as "Handbook https://wiki.example.com/crates"',
  value => {
    const address = / (\S+)$/.exec(value)?.[1] ?? ''
    const url = parseUrl(address)
    return (
      value.length <= 500 &&
      !/\p{Cc}/u.test(value) &&
      (url?.protocol === 'http:' || url?.protocol === 'https:')
    )
  },
)

/** A title, an index URL, and where that registry shows a crate. */
const foreignRegistry: Kind<string> = text(
  'a title, an index URL and the URL of a crate there, such as "Our Mirror sparse+https://mirror.example.com/index/ https://mirror.example.com/crates/{crate}/"',
  value => {
    const [, title = '', index = '', page = ''] = /^(.*\S) +(\S+) +(\S+)$/.exec(value) ?? []
    const isWeb = (address: string) => /^https?:$/.test(parseUrl(address)?.protocol ?? '')
    return (
      title.length <= 100 &&
      !/\p{Cc}/u.test(title) &&
      isWeb(index.replace(/^sparse\+/, '')) &&
      isWeb(page)
    )
  },
)

const rate = integer(0, 1_000_000)

/** Settings outside of any section. */
export const topRows = {
  yanked: row(list(crateVersion), [], 'Versions that `plimsoll build --from` marks as yanked.'),
}

/** Every section with its settings, in the order of the reference. */
export const sections = {
  registry: {
    base_url: mainRow(
      maybe(baseUrl()),
      null,
      'https://crates.example.com',
      'URL of the registry, for good: lock files keep it. Without one, the listening address.',
    ),
    api: mainRow(
      baseUrl('auto', 'none'),
      'auto',
      'auto',
      'URL of the web API: "auto" is the base URL; with "none", nobody can publish.',
    ),
    dl: row(
      dl,
      'auto',
      'URL of `.crate` files: "auto" is `{base}/crates/{crate}/{crate}-{version}.crate`.',
    ),
    name: mainRow(
      registryName,
      'plimsoll',
      'plimsoll',
      "Name of the registry in its users' `.cargo/config.toml`.",
    ),
    title: mainRow(line(100), 'Plimsoll', 'Plimsoll', 'Title of the pages.'),
    description: row(line(1000), '', 'A sentence below the title on the front page.'),
    aliases: row(list(indexUrl), [], 'Other index URLs under which users reach this registry.'),
  },
  pages: {
    source: row(flag, true, 'Whether every version has pages for the files of its `.crate`.'),
    images: row(
      choice('link', 'load'),
      'link',
      'Images from other hosts in READMEs: "load" shows them and tells those hosts who is reading.',
    ),
    logo: row(maybe(ownPath), null, 'Picture at the top of every page; replaces the built-in one.'),
    stylesheet: row(maybe(ownPath), null, 'Stylesheet loaded after the built-in one.'),
    links: row(list(siteLink), [], 'Links at the top of every page.'),
    registries: row(
      list(foreignRegistry),
      [],
      'Other registries, so that lists of dependencies can link to their crates.',
    ),
    footer: row(maybe(line(500)), null, 'Text at the bottom of every page; else the description.'),
  },
  server: {
    listen: mainRow(
      address,
      '127.0.0.1:8080',
      '127.0.0.1:8080',
      'Address the daemon listens on; `PLIMSOLL_LISTEN` sets it, too.',
    ),
    trusted_proxies: row(
      list(network),
      [],
      'Proxies whose `X-Forwarded-For` is trusted, so that limits count clients and not the proxy.',
    ),
    shutdown_seconds: row(
      duration(0, 3600),
      30,
      'How long running requests may take to finish after SIGTERM.',
    ),
  },
  auth: {
    required: mainRow(flag, false, false, 'Whether reading also needs a token or a login.'),
    password_cost: row(
      integer(14, 20),
      15,
      'Cost of scrypt as a power of two; each step doubles the time and memory of a login.',
    ),
    session_seconds: row(duration(300, YEAR), 30 * DAY, 'How long a login in the browser lasts.'),
    session_idle_seconds: row(
      duration(300, YEAR),
      7 * DAY,
      'How long a login in the browser lasts when it is not used.',
    ),
  },
  tls: {
    cert: row(maybe(file), null, 'Certificate chain in PEM for HTTPS and HTTP/2; needs `tls.key`.'),
    key: row(maybe(file), null, 'Private key in PEM; needs `tls.cert`.'),
  },
  owners: {
    add: row(
      choice('direct', 'invite'),
      'direct',
      'Whether a new owner is added at once or must accept an invitation.',
    ),
    invitation_seconds: row(
      duration(60, YEAR),
      30 * DAY,
      'How long an invitation can be accepted; inviting again renews it.',
    ),
    public: row(flag, false, 'Whether owners are listed without a token.'),
  },
  api: {
    error_status: row(
      choice('cargo', 'http'),
      'cargo',
      "Status of failures of Cargo's operations: 200 with an `errors` body, or the HTTP status.",
    ),
  },
  limits: {
    crate_bytes: mainRow(size(1024, GIB), 10 * MIB, 10 * MIB, 'Largest `.crate` file.'),
    metadata_bytes: row(size(1024, 64 * MIB), MIB, 'Largest metadata of a publish request.'),
    unpacked_bytes: row(
      size(1024, 64 * GIB),
      512 * MIB,
      'Largest `.crate` when unpacked: its tar stream, headers and padding included.',
    ),
    unpacked_ratio: row(
      integer(0, 1000),
      0,
      'A `.crate` may also unpack to this many times its size; 0 allows no more than the limit.',
    ),
    archive_entries: row(integer(1, 10_000_000), 50_000, 'Most files and folders in a `.crate`.'),
    manifest_bytes: row(size(1024, 64 * MIB), MIB, 'Largest `Cargo.toml`.'),
    readme_bytes: row(size(0, 64 * MIB), MIB, 'Largest README.'),
    request_seconds: row(
      duration(1, 3600),
      120,
      'How long a request may take to arrive and be answered.',
    ),
    publish_per_minute: row(rate, 300, 'Publishes by one user; 0 is no limit.'),
    changes_per_minute: row(
      rate,
      300,
      'Yanks, unyanks and changes of owners and tokens by one user; 0 is no limit.',
    ),
    logins_per_minute: row(
      rate,
      20,
      'Login attempts from one address, or from one browser that has logged in before; 0 is no limit.',
    ),
    account_logins_per_minute: row(
      rate,
      100,
      'Login attempts to one account from all browsers that never did before; 0 is no limit.',
    ),
    searches_per_minute: row(rate, 600, 'Searches from one address; 0 is no limit.'),
    new_crates_per_day: row(rate, 0, 'New crates by one user within 24 hours; 0 is no limit.'),
    versions_per_day: row(rate, 0, 'New versions of one crate within 24 hours; 0 is no limit.'),
    tokens_per_user: row(integer(1, 1_000_000), 500, 'Unexpired tokens that one user may have.'),
  },
  policy: policyRows,
  git: {
    index: row(
      choice('auto', 'on', 'off'),
      'auto',
      'Whether there is also a git index: "auto" when nodegit or git is installed; "on" requires one. `plimsoll build --from` writes one only with "on".',
    ),
    engine: row(
      choice('auto', 'nodegit', 'git'),
      'auto',
      'What writes it: "auto" is nodegit when installed, else git.',
    ),
    push: row(list(remote), [], 'Remotes to which every commit of the index is pushed.'),
  },
  log: {
    level: row(
      choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
      'info',
      'Lowest level of the log lines that the daemon writes.',
    ),
  },
} as const
