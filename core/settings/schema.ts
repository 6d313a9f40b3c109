import { isIP } from 'node:net'
import { isName, parseName } from '../name.ts'
import { expandDl } from '../urls/download-url.ts'
import { isVersion, parseVersion } from '../version.ts'
import { isBucket, parseBucketAddress } from './bucket.ts'
import { cdnRows } from './cdn.ts'
import {
  baseUrl,
  choice,
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
} from './kind.ts'
import { pagesRows } from './pages.ts'
import { policyRows } from './rules.ts'
import { isUpstreamName, upstreamRows } from './upstream.ts'

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

const crateVersion = text('NAME@VERSION, such as "rand@0.8.5"', value => {
  const at = value.indexOf('@')
  return at > 0 && isName(value.slice(0, at)) && isVersion(value.slice(at + 1))
})

const place = text('a folder, or a bucket such as "s3://bucket/prefix"', value =>
  isBucket(value) ? parseBucketAddress(value) !== null : value !== '' && isLine(value),
)

const region = text('a region, such as "eu-central-1"', value => /^[a-z0-9-]{1,64}$/.test(value))

const rate = integer(0, 1_000_000)

export const topRows = {
  yanked: row(list(crateVersion), []),
}

/** Every section with its settings, in the order of the reference. */
export const sections = {
  registry: {
    base_url: row(maybe(baseUrl()), null),
    api: row(baseUrl('auto', 'none'), 'auto'),
    dl: row(dl, 'auto'),
    name: row(registryName, 'plimsoll'),
    title: row(line(100), 'Plimsoll'),
    description: row(line(1000), ''),
    aliases: row(list(indexUrl), []),
  },
  pages: pagesRows,
  server: {
    listen: row(address, '127.0.0.1:8080'),
    trusted_proxies: row(list(network), []),
    shutdown_seconds: row(duration(0, 3600), 30),
  },
  storage: {
    crates: row(place, 'crates'),
    public: row(place, 'public'),
    endpoint: row(maybe(baseUrl()), null),
    region: row(maybe(region), null),
    path_style: row(choice('auto', 'on', 'off'), 'auto'),
    downloads: row(baseUrl('stream', 'presign'), 'stream'),
    cache_seconds: row(duration(0, DAY), 0),
  },
  database: {
    url: row(maybe(postgresUrl), null),
    password_file: row(maybe(file), null),
    sslmode: row(choice('auto', 'disable', 'require', 'verify-ca', 'verify-full'), 'auto'),
    ca_file: row(maybe(file), null),
    pool: row(integer(1, 1000), 10),
    statement_seconds: row(duration(1, 3600), 30),
    lock_seconds: row(duration(1, 3600), 10),
  },
  cdn: cdnRows,
  downloads: {
    count: row(choice('served', 'imported', 'off'), 'served'),
  },
  auth: {
    required: row(flag, false),
    password_cost: row(integer(14, 20), 15),
    session_seconds: row(duration(300, YEAR), 30 * DAY),
    session_idle_seconds: row(duration(300, YEAR), 7 * DAY),
  },
  tls: {
    cert: row(maybe(file), null),
    key: row(maybe(file), null),
  },
  owners: {
    add: row(choice('direct', 'invite'), 'direct'),
    invitation_seconds: row(duration(60, YEAR), 30 * DAY),
    public: row(flag, false),
  },
  api: {
    error_status: row(choice('cargo', 'http'), 'cargo'),
  },
  limits: {
    crate_bytes: row(size(1024, GIB), 10 * MIB),
    metadata_bytes: row(size(1024, 64 * MIB), MIB),
    unpacked_bytes: row(size(1024, 64 * GIB), 512 * MIB),
    unpacked_ratio: row(integer(0, 1000), 0),
    archive_entries: row(integer(1, 10_000_000), 50_000),
    manifest_bytes: row(size(1024, 64 * MIB), MIB),
    readme_bytes: row(size(0, 64 * MIB), MIB / 4),
    request_seconds: row(duration(1, 3600), 120),
    publish_per_minute: row(rate, 300),
    changes_per_minute: row(rate, 300),
    logins_per_minute: row(rate, 20),
    account_logins_per_minute: row(rate, 100),
    searches_per_minute: row(rate, 600),
    upstream_per_minute: row(rate, 6000),
    new_crates_per_day: row(rate, 0),
    versions_per_day: row(rate, 0),
    tokens_per_user: row(integer(1, 1_000_000), 500),
  },
  policy: policyRows,
  outgoing: {
    ca_file: row(maybe(file), null),
    contact: row(maybe(line(200)), null),
  },
  git: {
    index: row(choice('auto', 'on', 'off'), 'auto'),
    engine: row(choice('auto', 'nodegit', 'git'), 'auto'),
    push: row(list(remote), []),
  },
  log: {
    level: row(choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'info'),
    format: row(choice('auto', 'text', 'json'), 'auto'),
  },
} as const

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

/** Returns the settings of the section `[upstream.NAME]`. */
export function upstreamSettings(name: string): Setting[] {
  return settingsOf(`upstream.${name}`, upstreamRows)
}

/** Returns the setting of a key, also of an upstream of any name; undefined if there is none. */
export function findSetting(key: string): Setting | undefined {
  const [, name = ''] = /^upstream\.([^.]+)\.[^.]+$/.exec(key) ?? []
  if (!isUpstreamName(name)) return settingTable.get(key)
  return upstreamSettings(name).find(setting => setting.key === key)
}

/** Returns the setting of a variable; `UPSTREAM_CRATES_IO_HOLD` is that of `crates-io`. */
export function findVariable(variable: string): Setting | undefined {
  const [, start = ''] = /^PLIMSOLL_UPSTREAM_(.+)$/.exec(variable) ?? []
  for (const key of Object.keys(upstreamRows)) {
    const end = `_${key}`.toUpperCase()
    const name = start.slice(0, -end.length).toLowerCase().replaceAll('_', '-')
    if (start.endsWith(end) && isUpstreamName(name)) return findSetting(`upstream.${name}.${key}`)
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
