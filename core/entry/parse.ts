import { collect, type Issue, issue, refuse, refuseErrors } from '../error/error.ts'
import { parseRequirement } from '../requirement.ts'
import { isVersion, versionIdentity } from '../version.ts'
import type { Dependency, DependencyKind, Entry, Features, Json, OtherKeys } from './entry.ts'
import { parseJsonLine } from './json-line.ts'
import * as rule from './rules.ts'
import { FieldReader, type Fields, isFields } from './rules.ts'

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

/**
 * Reads an entry that anyone may have written, losing nothing: `features2` joins `features` as Cargo joins them, unknown
 * keys are kept in `other`, absent fields take Cargo's defaults. Throws a `Refusal` with every objection; all of them
 * are things that make Cargo drop the line, refuse the version or stop (Cargo's index schema).
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
    // Version 1 is what no `v` means; only where rendering would choose more must it be kept.
    ...(v > 1 || deps.some(one => one.artifact) ? { v } : {}),
    ...otherKeys(value, ENTRY_KEYS),
  }
  refuseErrors(issues)
  return entry
}

/**
 * All entries of an index file that can be used, and what is wrong with the others, by line. Of a version that is there
 * twice (build metadata does not count) the first entry stays; the first entry also says whose file it is. Blank lines
 * and `\r` mean nothing.
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

/** Null, absent and unknown kinds count as normal, as Cargo counts them. */
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

function otherKeys(fields: Fields, known: readonly string[]): { other?: OtherKeys } {
  const rest = Object.entries(fields).filter(([key]) => !known.includes(key))
  return rest.length === 0 ? {} : { other: Object.fromEntries(rest) }
}
