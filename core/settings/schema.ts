import { isIP } from 'node:net'
import { parseName } from '../name.ts'
import { isBucket, parseBucketAddress } from '../paths/bucket.ts'
import { expandDl } from '../urls/download-url.ts'
import { parseVersion } from '../version.ts'
import { advisoriesRows } from './advisories.ts'
import { cdnRows } from './cdn.ts'
import {
  baseUrl,
  choice,
  deprecated,
  duration,
  file,
  flag,
  hasScheme,
  indexUrl,
  integer,
  isLine,
  isUnclean,
  line,
  list,
  maybe,
  parseListen,
  type Row,
  row,
  type SettingValue,
  size,
  text,
  yanked,
} from './kind.ts'
import { namedRows } from './named.ts'
import { pagesRows } from './pages.ts'
import { policyRows } from './rules.ts'
import { isUpstreamName } from './upstream.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const DAY = 86_400
const YEAR = 365 * DAY

const MARKERS = ['{crate}', '{version}', '{prefix}', '{lowerprefix}', '{sha256-checksum}']

/** A release with which `dl` templates are tested. */
const SAMPLE = { name: parseName('sample'), version: parseVersion('1.0.0'), cksum: '0'.repeat(64) }

/** `dl` of config.json (specification A.1); Cargo accepts http, https and file URLs. */
const dl = text(
  `"auto" or an absolute http, https or file URL in which only the markers ${MARKERS.join(' ')} are in braces`,
  value => {
    if (value === 'auto') return true
    const braces = value.match(/\{[^{}]*\}|[{}]/g) ?? []
    const sample = expandDl(value, SAMPLE)
    return (
      braces.every(marker => MARKERS.includes(marker)) &&
      hasScheme(sample, 'http', 'https', 'file') &&
      /^[a-z]+:\/\//i.test(sample)
    )
  },
)

/** Cargo's rule for registry names (`validate_package_name`), limited to TOML's bare keys. */
const registryName = text(
  'letters, digits, "-" and "_", a letter or "_" first, not "crates-io"',
  value => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(value) && value !== 'crates-io',
)

const address = text(
  'HOST:PORT, such as "127.0.0.1:8080" or "[::1]:8080"; PORT alone, on 127.0.0.1; or unix:/PATH; port 0 chooses a free one',
  value => parseListen(value) !== null,
)

const network = text('an IP address or a network such as "10.0.0.0/8"', value => {
  const [ip = '', bits = '0', more] = value.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(ip)] ?? -1
  return more === undefined && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= most
})

/** A remote that `git push` accepts, except options and commands. */
const remote = text(
  'a git remote, such as "git@example.com:index.git"',
  value => /^[^-]/.test(value) && !isUnclean(value) && !/^[A-Za-z][\w+.-]*::/.test(value),
)

/** A URL as PostgreSQL's own programs take it; the folder of a Unix socket is a parameter. */
const postgresUrl = text(
  'a URL such as "postgres://plimsoll@db.example.com:5432/plimsoll", or "postgres:///plimsoll?host=/run/postgresql" for a Unix socket',
  value => {
    if (!hasScheme(value, 'postgres', 'postgresql')) return false
    const { hostname, pathname, hash, searchParams } = new URL(value)
    const parameters = [...searchParams.keys()]
    const hasHost = searchParams.has('host') || hostname !== ''
    return (
      hasHost &&
      /^\/[^/]+$/.test(pathname) &&
      hash === '' &&
      parameters.every(name => name === 'host')
    )
  },
)

const place = text('a folder, or a bucket such as "s3://bucket/prefix"', value =>
  isBucket(value) ? parseBucketAddress(value) !== null : value !== '' && isLine(value),
)

const region = text('a region, such as "eu-central-1"', value => /^[a-z0-9-]{1,64}$/.test(value))

const rate = integer(0, 1_000_000)

// biome-ignore format: a table has a line for each setting
export const topRows = {
  yanked: row(list(yanked), [], 'Versions that `plimsoll build --from` marks as yanked, whatever their build metadata; in a table, also why.'),
  deprecated: row(list(deprecated), [], 'Crates, or versions of them, that `plimsoll build --from` marks as deprecated.'),
}

/** Every section with its settings, in the order of the reference. */
// biome-ignore format: a table has a line for each setting
export const sections = {
  registry: {
    base_url: row(maybe(baseUrl()), null, 'Permanent URL of the registry: lock files contain it. Default: the listening address.'),
    api: row(baseUrl('auto', 'none'), 'auto', 'URL of the web API: "auto" is the base URL; with "none", the web takes no changes, but still answers reads and searches.'),
    dl: row(dl, 'auto', 'URL of `.crate` files: "auto" is `{base}/crates/{crate}/{crate}-{version}.crate`. Without markers, Cargo appends `/{crate}/{version}/download`. A template below the base URL is answered, or refused at start ([hosting.md](hosting.md#other-addresses-of-packages)).'),
    name: row(registryName, 'plimsoll', "Name of the registry in its users' `.cargo/config.toml`."),
    title: row(line(100), 'Plimsoll', 'Title of the pages.'),
    description: row(line(1000), '', 'A sentence below the title on the front page.'),
    aliases: row(list(indexUrl), [], 'Other index URLs under which users reach this registry.'),
  },
  pages: pagesRows,
  server: {
    listen: row(address, '127.0.0.1:8080', 'Address the daemon listens on; `PLIMSOLL_LISTEN` also sets it.'),
    trusted_proxies: row(list(network), [], 'Proxies whose `X-Forwarded-For` is trusted, so that limits count clients and not the proxy.'),
    shutdown_seconds: row(duration(0, 3600), 30, 'How long running requests may take to finish after SIGTERM.'),
  },
  storage: {
    crates: row(place, 'crates', 'Where `.crate` files are kept; a folder is relative to that of the registry.'),
    public: row(place, 'public', 'Where the public tree is; the daemon copies `public/` to a bucket.'),
    endpoint: row(maybe(baseUrl()), null, 'Address of the object storage; else Amazon S3.'),
    region: row(maybe(region), null, 'Region of the bucket; else what `AWS_REGION` or the profile says, else `us-east-1`.'),
    path_style: row(choice('auto', 'on', 'off'), 'auto', 'Whether the bucket is in the path of addresses and not in the host; "auto": with an endpoint, or a dot in its name.'),
    downloads: row(baseUrl('stream', 'presign'), 'stream', 'How the daemon answers downloads from a bucket: it sends the bytes itself, redirects to an address of the bucket that holds for 15 minutes, or redirects to the address of a CDN before the bucket.'),
    cache_seconds: row(duration(0, DAY), 0, 'How long caches may use the index and the pages of a bucket without asking; 0: they ask each time.'),
  },
  database: {
    url: row(maybe(postgresUrl), null, "The PostgreSQL database with the records. Without it they are in `plimsoll.db` in the registry's folder."),
    password_file: row(maybe(file), null, 'File with the password, instead of one in the URL; read for each new connection.'),
    sslmode: row(choice('auto', 'disable', 'require', 'verify-ca', 'verify-full'), 'auto', 'TLS to the server: "auto" is "disable" on this machine, else "verify-full", which checks certificate and name.'),
    ca_file: row(maybe(file), null, 'Certificates to trust instead of the usual ones.'),
    pool: row(integer(1, 1000), 10, 'The most connections that read; one more writes.'),
    statement_seconds: row(duration(1, 3600), 30, 'How long a statement may take.'),
    lock_seconds: row(duration(1, 3600), 10, 'How long a change waits for another process that writes.'),
  },
  cdn: cdnRows,
  downloads: {
    count: row(choice('served', 'imported', 'off'), 'served', 'Which downloads pages and web API show: those that the daemon serves, those that `plimsoll downloads import` reads from access logs, or none.'),
  },
  auth: {
    required: row(flag, false, 'Whether reading also needs a token or a login.'),
    passwords: row(choice('on', 'off'), 'on', 'Whether people may log in with passwords; "off" needs a section `[oidc.NAME]` ([login.md](login.md)).'),
    password_cost: row(integer(14, 20), 15, 'Cost of scrypt as a power of two; each step doubles the time and memory of a login.'),
    session_seconds: row(duration(300, YEAR), 30 * DAY, 'How long a login in the browser lasts.'),
    session_idle_seconds: row(duration(300, YEAR), 7 * DAY, 'How long a login in the browser lasts when it is not used.'),
  },
  tls: {
    cert: row(maybe(file), null, 'Certificate chain in PEM for HTTPS and HTTP/2; needs `tls.key`.'),
    key: row(maybe(file), null, 'Private key in PEM; needs `tls.cert`.'),
  },
  owners: {
    add: row(choice('direct', 'invite'), 'direct', 'Whether a new owner is added at once or must accept an invitation.'),
    invitation_seconds: row(duration(60, YEAR), 30 * DAY, 'How long an invitation can be accepted; inviting again renews it.'),
    public: row(flag, true, "Whether pages, `crate.json`, feeds, search and API name owners and publishers; Cargo's list of owners always needs a token."),
  },
  api: {
    error_status: row(choice('cargo', 'http'), 'cargo', "Status of failures of Cargo's operations: 200 with an `errors` body, or the HTTP status."),
  },
  limits: {
    crate_bytes: row(size(1024, GIB), 10 * MIB, 'Largest `.crate` file.'),
    metadata_bytes: row(size(1024, 64 * MIB), MIB, 'Largest metadata of a publish request.'),
    unpacked_bytes: row(size(1024, 64 * GIB), 512 * MIB, 'Largest `.crate` when unpacked: its tar stream, headers and padding included.'),
    unpacked_ratio: row(integer(0, 1000), 0, 'A `.crate` may also unpack to this many times its size; 0 allows no more than `unpacked_bytes`.'),
    archive_entries: row(integer(1, 10_000_000), 50_000, 'Most files and folders in a `.crate`.'),
    manifest_bytes: row(size(1024, 64 * MIB), MIB, 'Largest `Cargo.toml`.'),
    readme_bytes: row(size(0, 64 * MIB), MIB / 4, 'Largest README that the registry keeps and shows; the package keeps a larger one.'),
    request_seconds: row(duration(1, 3600), 120, 'How long a request may take to arrive and be answered.'),
    publish_per_minute: row(rate, 300, 'Publishes by one user; each second of processor time that reading an archive takes counts as 10, or as 40 if the archive is refused. 0 is no limit.'),
    changes_per_minute: row(rate, 300, 'Yanks, unyanks, changes of owners and new tokens by one user; revoking a token and logging out do not count. 0 is no limit.'),
    logins_per_minute: row(rate, 20, 'Login attempts from one address, or from one browser that has logged in before; 0 is no limit.'),
    account_logins_per_minute: row(rate, 100, 'Login attempts to one account from all browsers in which nobody has logged in before; 0 is no limit.'),
    exchanges_per_minute: row(rate, 300, 'Tokens of CI jobs that one address may exchange for tokens of this registry; 0 is no limit.'),
    searches_per_minute: row(rate, 600, 'Searches from one address, and as many questions about crates to the API; 0 is no limit.'),
    upstream_per_minute: row(rate, 6000, 'Requests to upstreams that one address may cause; all addresses together may cause ten times as many. A request that brings nothing counts as 20. 0 is no limit.'),
    new_crates_per_day: row(rate, 0, 'New crates by one user within 24 hours; 0 is no limit.'),
    versions_per_day: row(rate, 0, 'New versions of one crate within 24 hours; 0 is no limit.'),
    tokens_per_user: row(integer(1, 1_000_000), 500, 'Unexpired tokens that one user may have.'),
  },
  policy: policyRows,
  advisories: advisoriesRows,
  outgoing: {
    ca_file: row(maybe(file), null, 'Certificates in PEM to trust besides the usual ones, such as that of a proxy which looks into TLS.'),
    contact: row(maybe(line(200)), null, 'Whom the operators of those servers can write to, such as "crates@example.com"; follows the name and version of the program in `User-Agent`.'),
  },
  git: {
    index: row(choice('auto', 'on', 'off'), 'auto', 'Whether the registry also has a git index: with "auto", if nodegit or git is installed; "on" requires one of them. `plimsoll build --from` writes a git index only with "on".'),
    engine: row(choice('auto', 'nodegit', 'git'), 'auto', 'What writes the git index: "auto" is nodegit if it is installed, else git.'),
    push: row(list(remote), [], 'Remotes to which every commit of the index is pushed.'),
  },
  log: {
    level: row(choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'info', 'Lowest level of the log lines that the daemon writes.'),
    format: row(choice('auto', 'text', 'json'), 'auto', '"text" is for people, "json" has an object per line; "auto" is text on a terminal, else JSON.'),
  },
} as const

/** What a section is about, in Markdown whose links start at docs/run. */
// biome-ignore format: a table has a line for each section
export const sectionTexts: Readonly<Record<string, string>> = {
  '': 'Settings that stand above the first section.',
  registry: 'What the registry is, and where.',
  pages: 'What the pages show besides the crates.',
  server: 'How the daemon listens and stops.',
  storage: 'Where files are kept; see [object-storage.md](object-storage.md). The keys of the account are not settings: the environment or the profile of AWS has them.',
  database: 'Where the records are; see [postgresql.md](postgresql.md).',
  cdn: 'How a CDN learns what has changed; see [cdn.md](cdn.md).',
  downloads: 'Whether downloads are counted; see [downloads.md](downloads.md).',
  auth: 'Who may read, and how people log in; see [users.md](users.md).',
  tls: 'HTTPS without a proxy. Set both settings or neither.',
  owners: 'How crates get owners, and who sees them.',
  api: 'How the web API answers.',
  limits: "Sizes and rates. Rates count per minute, and a minute's worth may come at once.",
  policy: 'What a release must satisfy. A setting with levels takes `"error"` (refuse), `"warn"` (accept and say so) or `"off"`; a limit is a number, and the registry refuses what exceeds it. `preset` chooses the defaults; where `"public"` has another default, the table names it. No setting allows what would break the users of a crate: the registry always refuses names that collide by case or by `-` and `_`, bad names of features and dependencies, and features that lead nowhere.',
  advisories: 'Known holes in crates; see [advisories.md](advisories.md).',
  outgoing: 'Requests to other web servers, such as those of an import. `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name the proxies ([daemon.md](daemon.md#requests-to-other-servers)).',
  git: 'The index as a git repository, for Cargo before 1.68 and for mirrors.',
  log: 'What the daemon logs.',
  'issuer.NAME': 'A CI system whose jobs publish without a stored token; see [trusted-publishing.md](trusted-publishing.md). `[issuer.github]` and `[issuer.gitlab]` need no more than their line.',
  'oidc.NAME': "Logging in with a company's accounts, by OpenID Connect; see [login.md](login.md).",
  'upstream.NAME': 'Another registry, such as crates.io, whose crates are answered here too; see [upstream.md](upstream.md).',
  'webhook.NAME': 'A receiver of events; see [webhooks.md](webhooks.md).',
}

export interface Setting {
  readonly key: string
  readonly section: string
  readonly name: string
  readonly variable: string
  readonly row: Row<SettingValue>
}

/** Returns the environment variable of a setting: `PLIMSOLL_SECTION_NAME`. */
function variableOf(key: string): string {
  return `PLIMSOLL_${key.replaceAll(/[.-]/g, '_')}`.toUpperCase()
}

/** Every setting by its key (`section.name`), in the order of the reference. */
export const settingTable: ReadonlyMap<string, Setting> = new Map(
  Object.entries({ '': topRows, ...sections }).flatMap(([section, rows]) =>
    settingsOf(section, rows).map(setting => [setting.key, setting] as const),
  ),
)

function settingsOf(section: string, rows: Readonly<Record<string, Row<SettingValue>>>): Setting[] {
  return Object.entries(rows).map(([name, row]) => {
    const key = section === '' ? name : `${section}.${name}`
    return { key, section, name, variable: variableOf(key), row }
  })
}

/** Returns the settings of a section such as `upstream.crates-io`. */
export function namedSettings(section: string): Setting[] {
  return settingsOf(section, namedRows[section.slice(0, section.indexOf('.'))] ?? {})
}

/** Returns the setting of a key, also of a named section; undefined if there is none. */
export function findSetting(key: string): Setting | undefined {
  const [, section = '', kind = '', name = ''] = /^(([a-z]+)\.([^.]+))\.[^.]+$/.exec(key) ?? []
  if (!Object.hasOwn(namedRows, kind) || !isUpstreamName(name)) return settingTable.get(key)
  return namedSettings(section).find(setting => setting.key === key)
}

/** Returns the setting of a variable; `UPSTREAM_CRATES_IO_HOLD` is that of `crates-io`. */
export function findVariable(variable: string): Setting | undefined {
  for (const [kind, rows] of Object.entries(namedRows)) {
    const begin = `PLIMSOLL_${kind.toUpperCase()}_`
    const start = variable.startsWith(begin) ? variable.slice(begin.length) : ''
    for (const key of Object.keys(rows)) {
      const end = `_${key}`.toUpperCase()
      const name = start.slice(0, -end.length).toLowerCase().replaceAll('_', '-')
      if (start.endsWith(end) && isUpstreamName(name)) return findSetting(`${kind}.${name}.${key}`)
    }
  }
  return settingByVariable.get(variable)
}

/** The settings by environment variable; `PLIMSOLL_LISTEN` is an alias. */
export const settingByVariable: ReadonlyMap<string, Setting> = new Map(
  [...settingTable.values()].flatMap(setting => [
    ...(setting.key === 'server.listen' ? [['PLIMSOLL_LISTEN', setting] as const] : []),
    [setting.variable, setting] as const,
  ]),
)
