import { isBucket, parseBucketAddress } from '../paths/bucket.ts'
import { DENIED_KINDS, parseRule } from '../upstream/rules.ts'
import {
  choice,
  duration,
  file,
  flag,
  hasScheme,
  isLine,
  list,
  maybe,
  row,
  text,
  type Values,
  webUrlOrNone,
} from './kind.ts'

const DAY = 86_400

const sparseIndex = text(
  'a sparse index, such as "sparse+https://crates.example.com/index/"',
  value =>
    hasScheme(value.replace(/^sparse\+/, ''), 'http', 'https') &&
    /^sparse\+[^?#]+\/$/.test(value) &&
    new URL(value.slice('sparse+'.length)).username === '',
)

const placeOrNone = text('a folder, a bucket such as "s3://bucket/prefix", or ""', value =>
  isBucket(value) ? parseBucketAddress(value) !== null : isLine(value),
)

const crateRule = text(
  '"name", "name@1.2.3", "name@<1.2.3" or "prefix*"',
  value => parseRule(value, 'deny') !== null,
)

// biome-ignore format: a table has a line for each setting
export const upstreamRows = {
  index: row(maybe(sparseIndex), null, 'Sparse index of the upstream; `crates-io` has a default: `sparse+https://index.crates.io/`.'),
  token_file: row(maybe(file), null, 'File with the token that a private upstream asks for.'),
  fallback: row(choice('off', 'redirect', 'serve'), 'off', 'What the registry answers for names that it does not have: "redirect" sends clients to the upstream, "serve" answers from here. One upstream at most.'),
  fresh: row(duration(0, DAY), 10, 'How old an index file may be before the upstream is asked again.'),
  hold: row(duration(0, 365 * DAY), 0, 'How long a new version is shown as yanked: locked builds still get it, others take an older version.'),
  allow: row(list(crateRule), [], 'Versions that are not held, nor denied by an advisory; each rule means exactly these.'),
  deny: row(list(crateRule), [], 'Versions that are shown as yanked and not downloaded; a range has pre-releases in it, and build metadata never matters.'),
  deny_advisories: row(choice(...DENIED_KINDS), 'off', 'Which versions an advisory denies, besides `deny`; each value denies what those before it deny. "warn" only says on the page and by `explain` what covers a version; what is allowed is never denied.'),
  lure_guard: row(flag, false, 'Whether the registry hides yanks for 24 hours if the upstream yanks all older versions around a release that is held.'),
  offline: row(flag, false, 'Whether the registry serves only what it has, and never asks the upstream.'),
  feed: row(webUrlOrNone, '', 'RSS feed of new crates, whose names the registry compares with its own; `crates-io` with the index of crates.io has a default.'),
  storage: row(placeOrNone, '', 'Where the registry keeps lines and `.crate` files of the upstream; "" is `upstream/NAME` in the registry folder.'),
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
