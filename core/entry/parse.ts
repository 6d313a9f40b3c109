import { visit } from 'jsonc-parser'
import * as v from 'valibot'
import { collect, type Issue, issue, refuse, refuseErrors } from '../error/error.ts'
import { isIndexUrl } from '../index-url.ts'
import { isAlias, isName } from '../name.ts'
import { isObject, isTexts } from '../plain-data.ts'
import { parseRequirement } from '../requirement.ts'
import { isTarget, TARGET_FORM } from '../target.ts'
import { isStorable, unstorablePlaces } from '../text.ts'
import { isPubtime } from '../timestamp.ts'
import { isRustVersion, isVersion } from '../version.ts'
import type { Dependency, Entry, Features, Json, OtherKeys } from './entry.ts'
import { checkFeatures } from './features.ts'

/** Maximum nesting depth; entries need four levels. */
const DEPTH_MAX = 32

type Fields = Readonly<Record<string, Json>>

const flag = v.boolean('true or false')
const text = v.string('a string')
const texts = v.custom<readonly string[]>(isTexts, 'an array of strings')
const alias = textThat('a crate name', isAlias)
const featureMap = v.custom<Features>(
  value => isObject(value) && Object.values(value).every(isTexts),
  'an object of arrays of strings',
)

const dependencySchema = v.object(
  {
    name: alias,
    req: text,
    features: v.optional(texts, []),
    optional: v.optional(flag, false),
    default_features: v.optional(flag, true),
    target: v.nullish(textThat(TARGET_FORM, isTarget), null),
    // Cargo treats null, absent and unknown kinds as normal.
    kind: v.fallback(v.picklist(['normal', 'build', 'dev']), 'normal'),
    registry: v.nullish(textThat('the URL of an index', isIndexUrl), null),
    package: v.nullish(alias, null),
    artifact: v.nullish(texts),
    bindep_target: v.nullish(text),
    lib: v.exactOptional(flag),
    public: v.nullish(flag),
  },
  expected,
)

const entrySchema = v.object(
  {
    name: textThat('a crate name', isName),
    vers: textThat('a SemVer version', isVersion),
    deps: v.array(dependencySchema, 'an array'),
    cksum: textThat('64 lowercase hexadecimal digits', hash => /^[0-9a-f]{64}$/.test(hash)),
    features: v.optional(featureMap, {}),
    yanked: v.nullish(flag, false),
    links: v.nullish(text, null),
    features2: v.nullish(featureMap),
    v: v.nullish(
      v.custom<number>(
        value => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32,
        'a whole number',
      ),
      1,
    ),
    rust_version: v.nullish(
      textThat('a Rust version such as `1.70` or `1.70.0`', isRustVersion),
      null,
    ),
    pubtime: v.nullish(textThat('a time in the form `2026-11-20T12:00:00Z`', isPubtime), null),
  },
  expected,
)

/**
 * Parses an entry of any registry without loss: `features2` is merged into `features` as in Cargo,
 * unknown keys are kept in `other`, absent fields get Cargo's defaults. Throws a `Refusal` if Cargo
 * would drop the line, refuse the version or stop (Cargo's index schema), except for features.
 */
export function parseEntry(line: string): Entry {
  const value = parseJsonLine(line)
  if (!isObject(value)) refuse('entry_not_object')
  // To test the whole text is much faster, and only an escape can hide such a character from it.
  const isClean = isStorable(line) && !line.includes('\\u')
  const [field] = isClean ? [] : unstorablePlaces(value, 1)
  if (field !== undefined) refuse('entry_text', { field })
  const result = v.safeParse(entrySchema, value)
  if (!result.success) {
    refuseErrors(
      result.issues.map(({ path, message }) =>
        issue('entry_field', { field: fieldOf(path), expected: message }),
      ),
    )
  }
  const parsed = result.output as v.InferOutput<typeof entrySchema>
  const raw = value.deps as readonly Fields[]
  const deps = parsed.deps.map((dep, at) => ({
    ...withoutNulls(dep),
    ...otherKeys(raw[at] ?? {}, dependencySchema.entries),
  }))
  refuseErrors(deps.flatMap(checkDependency))
  return entryOf({ ...parsed, deps }, value as Fields)
}

/** Parses a line as `parseEntry` does; refuses features at which Cargo refuses the version, too. */
export function parsePublished(line: string): Entry {
  const entry = parseEntry(line)
  refuseErrors(checkFeatures(entry, 'published'))
  return entry
}

/**
 * Parses a line that `renderEntry` wrote for the records, without the checks of `parseEntry`: they
 * would take ten times as long for a crate with thousands of features.
 */
export function readEntry(line: string): Entry {
  const value = JSON.parse(line) as Fields & LineFields
  const { links = null, rust_version = null, pubtime = null, v: schema = 1, ...rest } = value
  const deps = readDependencies(value.deps)
  return entryOf({ ...rest, deps, links, rust_version, pubtime, v: schema }, value)
}

function readDependencies(deps: readonly Dependency[]): Dependency[] {
  const fields = dependencySchema.entries
  return deps.map(dep => {
    const rest = otherKeys({ ...dep } as unknown as Fields, fields)
    if (!rest.other) return dep
    const own = Object.entries(dep).filter(([key]) => Object.hasOwn(fields, key))
    return { ...(Object.fromEntries(own) as unknown as Dependency), ...rest }
  })
}

type LineFields = Omit<Entry, 'v' | 'other'> & {
  readonly v: number
  readonly features2?: Features | null | undefined
}

function entryOf(parsed: LineFields, raw: Fields): Entry {
  const { name, vers, deps, cksum, yanked, links, rust_version, pubtime, v: schema } = parsed
  return {
    name,
    vers,
    deps,
    cksum,
    features: parsed.features2 ? mergeFeatures(parsed.features, parsed.features2) : parsed.features,
    yanked,
    links,
    rust_version,
    pubtime,
    // A missing `v` means 1; it must be kept if rendering would choose a higher one.
    ...(schema > 1 || deps.some(dep => dep.artifact) ? { v: schema } : {}),
    ...otherKeys(raw, entrySchema.entries),
  }
}

/** Parses a line of JSON; refuses deep nesting and duplicate keys, for which Cargo drops it. */
function parseJsonLine(line: string): Json {
  const twice = repeatedKey(line)
  let value: Json
  try {
    value = JSON.parse(line)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    refuse('entry_not_json', { reason: error.message })
  }
  if (twice !== null) refuse('entry_key_twice', { key: twice })
  return value
}

/** Returns the first duplicate key of an object; refuses deep nesting. Accepts invalid JSON. */
export function repeatedKey(line: string): string | null {
  const open: Set<string>[] = []
  let twice: string | null = null
  const enter = () => {
    if (open.push(new Set()) > DEPTH_MAX) refuse('entry_too_deep', { max: DEPTH_MAX })
  }
  const leave = () => {
    open.pop()
  }
  visit(line, {
    onObjectBegin: enter,
    onArrayBegin: enter,
    onObjectEnd: leave,
    onArrayEnd: leave,
    onObjectProperty: key => {
      const keys = open.at(-1)
      if (keys?.has(key)) twice ??= key
      keys?.add(key)
    },
  })
  return twice
}

function checkDependency({ req, kind, optional, name }: Dependency, at: number): Issue[] {
  const issues: Issue[] = []
  collect(issues, () => parseRequirement(req))
  const field = `deps[${at}]`
  return [
    ...issues.map(({ message }) => issue('entry_requirement', { field, reason: message })),
    ...(kind === 'dev' && optional ? [issue('entry_optional_dev', { name })] : []),
  ]
}

/** Merges two maps of features; a feature in both maps gets both lists, as in Cargo. */
function mergeFeatures(first: Features, second: Features): Features {
  const merged = new Map(Object.entries(first))
  for (const [key, values] of Object.entries(second))
    merged.set(key, [...(merged.get(key) ?? []), ...values])
  return Object.fromEntries(merged)
}

function otherKeys(fields: Fields, declared: object): { other?: OtherKeys } {
  const rest = Object.entries(fields).filter(([key]) => !Object.hasOwn(declared, key))
  return rest.length === 0 ? {} : { other: Object.fromEntries(rest) }
}

function withoutNulls(parsed: v.InferOutput<typeof dependencySchema>): Dependency {
  const { artifact, bindep_target, public: isPublic, ...rest } = parsed
  return {
    ...rest,
    ...(artifact && { artifact }),
    ...(bindep_target != null && { bindep_target }),
    ...(isPublic != null && { public: isPublic }),
  }
}

function textThat(expected: string, fits: (text: string) => boolean) {
  return v.custom<string>(value => typeof value === 'string' && fits(value), expected)
}

function expected(problem: v.ObjectIssue): string {
  return problem.expected === 'Object' ? 'an object' : 'present'
}

function fieldOf(path: readonly v.IssuePathItem[] = []): string {
  return path.reduce(
    (field, { key }) =>
      typeof key === 'number' ? `${field}[${key}]` : `${field}${field && '.'}${key}`,
    '',
  )
}
