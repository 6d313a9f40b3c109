import { collect, type Issue, issue, refuse, refuseErrors } from '../error/error.ts'
import { parseRequirement } from '../requirement.ts'
import { isVersion, versionIdentity } from '../version.ts'
import type { Dependency, DependencyKind, Entry, Features, Json, OtherKeys } from './entry.ts'
import { parseJsonLine } from './json-line.ts'
import * as rule from './rules.ts'
import { FieldReader, type Fields, isFields } from './rules.ts'

const ENTRY_KEYS = new Set(
  'name vers deps cksum features yanked links features2 v rust_version pubtime'.split(' '),
)
const DEPENDENCY_KEYS = new Set(
  (
    'name req features optional default_features target kind registry package ' +
    'artifact bindep_target lib public'
  ).split(' '),
)

/**
 * Reads an entry by any writer without loss: `features2` joins `features` as in Cargo, unknown keys
 * are kept in `other`, absent fields get Cargo's defaults. Throws a `Refusal` with every objection:
 * what makes Cargo drop the line, refuse the version or stop (Cargo's index schema).
 */
export function parseEntry(line: string): Entry {
  const value = parseJsonLine(line)
  if (!isFields(value)) refuse('entry_not_object')
  const issues: Issue[] = []
  const read = new FieldReader(value, issues)
  const v = read.optional('v', rule.schema) ?? 1
  const deps = (read.required('deps', rule.list) ?? []).flatMap((one, at) =>
    parseDependency(one, at, issues),
  )
  const entry: Entry = {
    name: read.required('name', rule.name) ?? '',
    vers: read.required('vers', rule.version) ?? '',
    deps,
    cksum: read.required('cksum', rule.checksum) ?? '',
    features: mergeFeatures(
      read.defaulted('features', rule.featureMap, {}),
      read.optional('features2', rule.featureMap),
    ),
    yanked: read.optional('yanked', rule.flag) ?? false,
    links: read.optional('links', rule.text),
    rust_version: read.optional('rust_version', rule.rustVersion),
    pubtime: read.optional('pubtime', rule.moment),
    // A missing `v` means 1; it must be kept where rendering would choose more.
    ...(v > 1 || deps.some(one => one.artifact) ? { v } : {}),
    ...otherKeys(value, ENTRY_KEYS),
  }
  refuseErrors(issues)
  return entry
}

/**
 * The usable entries of an index file, and the objections to the others by line. Of a version that
 * is there twice (ignoring build metadata) the first entry stays; the first entry also decides the
 * name. Blank lines and `\r` are ignored.
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
    const name = entries[0]?.name ?? entry.name
    if (entry.name !== name) {
      issues.push(issue('index_name', { line: at + 1, name: entry.name, first: name }))
      continue
    }
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
  const read = new FieldReader(value, issues, `${where}.`)
  const artifact = read.optional('artifact', rule.texts)
  const bindep_target = read.optional('bindep_target', rule.text)
  const isPublic = read.optional('public', rule.flag)
  const dependency: Dependency = {
    name: read.required('name', rule.alias) ?? '',
    req: read.required('req', rule.text) ?? '*',
    features: read.defaulted('features', rule.texts, []),
    optional: read.defaulted('optional', rule.flag, false),
    default_features: read.defaulted('default_features', rule.flag, true),
    target: read.optional('target', rule.text),
    kind: readKind(value.kind),
    registry: read.optional('registry', rule.url),
    package: read.optional('package', rule.alias),
    ...(artifact === null ? {} : { artifact }),
    ...(bindep_target === null ? {} : { bindep_target }),
    ...(Object.hasOwn(value, 'lib') ? { lib: read.defaulted('lib', rule.flag, false) } : {}),
    ...(isPublic === null ? {} : { public: isPublic }),
    ...otherKeys(value, DEPENDENCY_KEYS),
  }
  const found: Issue[] = []
  collect(found, () => parseRequirement(dependency.req))
  for (const one of found)
    issues.push(issue('entry_requirement', { field: where, reason: one.message }))
  if (dependency.kind === 'dev' && dependency.optional)
    issues.push(issue('entry_optional_dev', { name: dependency.name }))
  return [dependency]
}

/** Cargo treats null, absent and unknown kinds as normal. */
function readKind(value: Json | undefined): DependencyKind {
  return value === 'dev' || value === 'build' ? value : 'normal'
}

/** Cargo appends the lists of a feature that is in both maps. */
function mergeFeatures(first: Features, second: Features | null): Features {
  if (!second) return first
  const merged = new Map(Object.entries(first))
  for (const [key, values] of Object.entries(second))
    merged.set(key, [...(merged.get(key) ?? []), ...values])
  return Object.fromEntries(merged)
}

function otherKeys(fields: Fields, known: ReadonlySet<string>): { other?: OtherKeys } {
  const rest = Object.entries(fields).filter(([key]) => !known.has(key))
  return rest.length === 0 ? {} : { other: Object.fromEntries(rest) }
}
