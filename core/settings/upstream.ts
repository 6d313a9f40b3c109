import { parseRule } from '../upstream/rules.ts'
import { isBucket, parseBucketAddress } from './bucket.ts'
import {
  choice,
  duration,
  file,
  flag,
  hasScheme,
  isLine,
  list,
  maybe,
  type Row,
  row,
  type SettingValue,
  text,
  type Values,
} from './kind.ts'

const DAY = 86_400

/** The one upstream that needs no other setting. */
export const CRATES_IO = 'crates-io'

const sparseIndex = text(
  'a sparse index, such as "sparse+https://crates.example.com/index/"',
  value =>
    hasScheme(value.replace(/^sparse\+/, ''), 'http', 'https') &&
    /^sparse\+[^?#]+\/$/.test(value) &&
    new URL(value.slice('sparse+'.length)).username === '',
)

const webUrlOrNone = text(
  'an http or https URL, or "" for none',
  value => value === '' || hasScheme(value, 'http', 'https'),
)

const placeOrNone = text('a folder, a bucket such as "s3://bucket/prefix", or ""', value =>
  isBucket(value) ? parseBucketAddress(value) !== null : isLine(value),
)

const crateRule = text(
  '"name", "name@1.2.3", "name@<1.2.3" or "prefix*"',
  value => parseRule(value, 'deny') !== null,
)

export const upstreamRows = {
  index: row(maybe(sparseIndex), null),
  token_file: row(maybe(file), null),
  fallback: row(choice('off', 'redirect', 'serve'), 'off'),
  fresh: row(duration(0, DAY), 10),
  hold: row(duration(0, 365 * DAY), 0),
  allow: row(list(crateRule), []),
  deny: row(list(crateRule), []),
  lure_guard: row(flag, false),
  offline: row(flag, false),
  feed: row(webUrlOrNone, ''),
  storage: row(placeOrNone, ''),
}

/** The settings of one upstream; times in seconds. */
export type UpstreamSettings = Values<typeof upstreamRows> & {
  readonly name: string
  /** Its index, with `sparse+` and a final slash. */
  readonly index: string
}

export const UPSTREAM_NAME_FORM = 'lowercase letters, digits and "-", a letter first'

/** Returns whether text may be the `NAME` of `[upstream.NAME]`: a path segment and a variable. */
export function isUpstreamName(name: string): boolean {
  return /^[a-z](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name)
}

const CRATES_IO_INDEX = 'sparse+https://index.crates.io/'

/**
 * Returns the default of a setting where `crates-io` has another one than other upstreams; with
 * another `index`, that section is no longer about crates.io, whose feed nobody asks for then.
 */
export function upstreamDefault(
  name: string,
  key: string,
  index: SettingValue = CRATES_IO_INDEX,
): SettingValue {
  if (name === CRATES_IO && key === 'index') return CRATES_IO_INDEX
  if (name === CRATES_IO && key === 'feed' && index === CRATES_IO_INDEX)
    return 'https://static.crates.io/rss/crates.xml'
  return new Map<string, Row<SettingValue>>(Object.entries(upstreamRows)).get(key)?.private ?? null
}
