import { type Code, collect, type Issue, issue, refuse, refuseErrors } from '../error.ts'
import { isName } from '../name.ts'
import { parseRequirement } from '../requirement.ts'
import { isVersion, versionIdentity } from '../version.ts'
import { parseJsonLine } from './json-line.ts'
import { isPubtime } from './pubtime.ts'
import type { Dependency, DependencyKind, Entry, Features, Json, OtherKeys } from './shape.ts'

type Fields = Readonly<Record<string, Json>>

const ENTRY_KEYS = [
  'name',
  'vers',
  'deps',
  'cksum',
  'features',
  'yanked',
  'links',
  'features2',
  'v',
  'rust_version',
  'pubtime',
]
const DEPENDENCY_KEYS = [
  'name',
  'req',
  'features',
  'optional',
  'default_features',
  'target',
  'kind',
  'registry',
  'package',
  'artifact',
  'bindep_target',
  'lib',
  'public',
]

/** What one field must be: a test, and the words for it. */
interface Rule<T extends Json> {
  readonly test: (value: Json) => value is T
  readonly expected: string
}

const text: Rule<string> = { test: value => typeof value === 'string', expected: 'a string' }
const flag: Rule<boolean> = { test: value => typeof value === 'boolean', expected: 'true or false' }
const list: Rule<readonly Json[]> = { test: value => Array.isArray(value), expected: 'an array' }
const texts: Rule<readonly string[]> = {
  test: (value): value is readonly string[] =>
    Array.isArray(value) && value.every((one: Json) => typeof one === 'string'),
  expected: 'an array of strings',
}
const featureMap: Rule<Features> = {
  test: (value): value is Features => isFields(value) && Object.values(value).every(texts.test),
  expected: 'an object of arrays of strings',
}
const schema: Rule<number> = {
  test: (value): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32,
  expected: 'a whole number',
}
const name: Rule<string> = { test: (value): value is string => text.test(value) && isName(value), expected: 'a name' }
const alias: Rule<string> = {
  test: (value): value is string => text.test(value) && /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(value),
  expected: 'a crate name',
}
const version: Rule<string> = {
  test: (value): value is string => text.test(value) && isVersion(value),
  expected: 'a SemVer version',
}
const checksum: Rule<string> = {
  test: (value): value is string => text.test(value) && /^[0-9a-f]{64}$/.test(value),
  expected: '64 lower-case hexadecimal digits',
}
const rustVersion: Rule<string> = {
  test: (value): value is string => text.test(value) && /^(?:0|[1-9]\d{0,9})(?:\.(?:0|[1-9]\d{0,9})){0,2}$/.test(value),
  expected: 'a Rust version such as `1.70` or `1.70.0`',
}
const moment: Rule<string> = {
  test: (value): value is string => text.test(value) && isPubtime(value),
  expected: 'a time in the form `2026-11-20T12:00:00Z`',
}
const url: Rule<string> = {
  test: (value): value is string => text.test(value) && /^[a-z][a-z+.-]*:\/\/\S+$/i.test(value),
  expected: 'the URL of an index',
}

/**
 * Reads an entry that anyone may have written, losing nothing: `features2` joins `features` as Cargo joins them, unknown
 * keys are kept in `other`, absent fields take Cargo's defaults. Throws a `Refusal` with every objection; all of them
 * are things that make Cargo drop the line, refuse the version or stop (`reference: Cargo's index schema`).
 */
export function parseEntry(line: string): Entry {
  const value = parseJsonLine(line)
  if (!isFields(value)) refuse('entry_not_object')
  const issues: Issue[] = []
  const read = reader(value, 'entry_field', issues)
  const v = read.optional('v', schema)
  const entry: Entry = {
    name: read.required('name', name) ?? '',
    vers: read.required('vers', version) ?? '',
    deps: (read.required('deps', list) ?? []).flatMap((one, at) => parseDependency(one, at, issues)),
    cksum: read.required('cksum', checksum) ?? '',
    features: mergeFeatures(read.defaulted('features', featureMap, {}), read.optional('features2', featureMap)),
    yanked: read.optional('yanked', flag) ?? false,
    links: read.optional('links', text),
    rust_version: read.optional('rust_version', rustVersion),
    pubtime: read.optional('pubtime', moment),
    ...(v === null ? {} : { v }),
    ...otherKeys(value, ENTRY_KEYS),
  }
  refuseErrors(issues)
  return entry
}

/**
 * All entries of an index file that can be used, and what is wrong with the others, by line. Of a version that is there
 * twice (build metadata does not count) the first entry stays. Blank lines and `\r` mean nothing.
 */
export function parseIndexFile(file: string): { entries: Entry[]; issues: Issue[] } {
  const entries: Entry[] = []
  const issues: Issue[] = []
  const seen = new Map<string, number>()
  for (const [at, raw] of file.split('\n').entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (line.trim() === '') continue
    const found: Issue[] = []
    const entry = collect(found, () => parseEntry(line))
    for (const one of found) issues.push(issue('index_line', { line: at + 1, reason: one.message }))
    if (!entry || !isVersion(entry.vers)) continue
    const identity = versionIdentity(entry.vers)
    const first = seen.get(identity)
    if (first === undefined) {
      seen.set(identity, at + 1)
      entries.push(entry)
    } else issues.push(issue('index_version_twice', { line: at + 1, version: entry.vers, first }))
  }
  return { entries, issues }
}

function parseDependency(value: Json, at: number, issues: Issue[]): Dependency[] {
  const where = `deps[${at}]`
  if (!isFields(value)) {
    issues.push(issue('entry_field', { field: where, expected: 'an object' }))
    return []
  }
  const read = reader(value, 'entry_field', issues, `${where}.`)
  const artifact = read.optional('artifact', texts)
  const bindep_target = read.optional('bindep_target', text)
  const isPublic = read.optional('public', flag)
  const dependency: Dependency = {
    name: read.required('name', alias) ?? '',
    req: read.required('req', text) ?? '*',
    features: read.defaulted('features', texts, []),
    optional: read.defaulted('optional', flag, false),
    default_features: read.defaulted('default_features', flag, true),
    target: read.optional('target', text),
    kind: readKind(value.kind),
    registry: read.optional('registry', url),
    package: read.optional('package', alias),
    ...(artifact === null ? {} : { artifact }),
    ...(bindep_target === null ? {} : { bindep_target }),
    ...(Object.hasOwn(value, 'lib') ? { lib: read.defaulted('lib', flag, false) } : {}),
    ...(isPublic === null ? {} : { public: isPublic }),
    ...otherKeys(value, DEPENDENCY_KEYS),
  }
  const found: Issue[] = []
  collect(found, () => parseRequirement(dependency.req))
  for (const one of found) issues.push(issue('entry_requirement', { field: where, reason: one.message }))
  if (dependency.kind === 'dev' && dependency.optional)
    issues.push(issue('entry_optional_dev', { name: dependency.name }))
  return [dependency]
}

/** Null, absent and unknown kinds count as normal, as Cargo counts them. */
function readKind(value: Json | undefined): DependencyKind {
  return value === 'dev' || value === 'build' ? value : 'normal'
}

/** Cargo appends the lists of a feature that is in both maps. */
function mergeFeatures(first: Features, second: Features | null): Features {
  if (!second) return first
  const merged = new Map(Object.entries(first))
  for (const [key, values] of Object.entries(second)) merged.set(key, [...(merged.get(key) ?? []), ...values])
  return Object.fromEntries(merged)
}

function otherKeys(fields: Fields, known: readonly string[]): { other?: OtherKeys } {
  const rest = Object.entries(fields).filter(([key]) => !known.includes(key))
  return rest.length === 0 ? {} : { other: Object.fromEntries(rest) }
}

function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads single fields of `fields`; what does not fit becomes an objection and reads as absent. */
function reader(fields: Fields, code: Extract<Code, 'entry_field'>, issues: Issue[], where = '') {
  const object = <T extends Json>(key: string, rule: Rule<T>): null => {
    issues.push(issue(code, { field: `${where}${key}`, expected: rule.expected }))
    return null
  }
  const own = (key: string): Json | undefined => (Object.hasOwn(fields, key) ? fields[key] : undefined)
  return {
    /** Must be there. */
    required<T extends Json>(key: string, rule: Rule<T>): T | null {
      const value = own(key)
      return value !== undefined && rule.test(value) ? value : object(key, rule)
    },
    /** May be absent or null. */
    optional<T extends Json>(key: string, rule: Rule<T>): T | null {
      const value = own(key) ?? null
      return value === null || rule.test(value) ? value : object(key, rule)
    },
    /** May be absent, but not null. */
    defaulted<T extends Json>(key: string, rule: Rule<T>, absent: T): T {
      const value = own(key)
      if (value === undefined) return absent
      return rule.test(value) ? value : (object(key, rule) ?? absent)
    },
  }
}
