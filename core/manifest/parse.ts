// core/manifest: What a `Cargo.toml` says. Releases and pages call it; it never judges, core/policy
// does.
import type { Features } from '../entry/entry.ts'
import { collect, type Issue, issue, Refusal, refuse, refuseErrors } from '../error/error.ts'
import { type Name, parseName } from '../name.ts'
import { unstorablePlaces } from '../text.ts'
import { isTable, parseToml } from '../toml.ts'
import { isRustVersion, parseVersion, type Version } from '../version.ts'
import { readDependencies } from './dependencies.ts'
import type { About, Manifest, TargetHints } from './manifest.ts'
import { isInherited, Table } from './table.ts'

/** Maximum nesting depth of inline values; Cargo's own keys need three levels. */
const DEPTH_MAX = 100

const UNSTORABLE_MAX = 20

/**
 * Parses the `Cargo.toml` of a packaged crate, as Cargo normalizes it or as early versions of Cargo
 * packed it (`[project]`, `dev_dependencies`, `default_features`). Accepts unknown keys and
 * editions. Throws a `Refusal` with every error: invalid TOML, wrong types, names, versions and
 * requirements, and anything that packaging should have resolved (workspace inheritance,
 * `[patch]`, local names of registries). In what is `published`, Cargo passes over `[patch]`.
 */
export function parseManifest(text: string, kind: 'new' | 'published' = 'new'): Manifest {
  const fields = parseToml(text, (reason, { line }) => refuse('manifest_toml', { reason, line }), {
    ...{ integersAsBigInt: 'asNeeded', maxDepth: DEPTH_MAX },
  })
  const issues = unstorablePlaces(fields, UNSTORABLE_MAX).map(field =>
    issue('manifest_text', { field }),
  )
  const root = new Table(fields, '', issues)
  const key =
    root.raw('package') === undefined && root.raw('project') !== undefined ? 'project' : 'package'
  const pack = root.table(key)
  if (!pack) throw new Refusal([issue('manifest_package_missing'), ...issues])
  const patch = root.raw('patch')
  const isPatched = patch !== undefined && !(isTable(patch) && Object.keys(patch).length === 0)
  if (isPatched && kind === 'new') issues.push(issue('manifest_patch'))
  const readme = pack.raw('readme')
  const manifest = {
    name: required(pack, 'name', parseName, issues),
    version: required(pack, 'version', parseVersion, issues),
    dependencies: readDependencies(root, issues),
    features: readFeatures(root),
    links: pack.text('links'),
    rustVersion: readRustVersion(pack),
    about: readAbout(root, pack),
    readmePath: typeof readme === 'boolean' ? (readme ? 'README.md' : null) : pack.text('readme'),
    readmeByDefault: readme === undefined,
    targets: readTargets(root, pack),
  }
  refuseErrors(issues)
  return { ...manifest, name: manifest.name as Name, version: manifest.version as Version }
}

function required<T>(
  table: Table,
  key: string,
  check: (text: string) => T,
  issues: Issue[],
): T | undefined {
  const value = table.raw(key)
  if (typeof value === 'string') return collect(issues, () => check(value))
  const field = table.path(key)
  issues.push(issue(isInherited(value) ? 'manifest_inherited' : 'manifest_key_missing', { field }))
  return undefined
}

function readFeatures(root: Table): Features {
  const table = root.table('features')
  return Object.fromEntries(table?.keys().map(name => [name, table.texts(name) ?? []]) ?? [])
}

function readRustVersion(pack: Table): string | null {
  const value = pack.text('rust-version')
  if (value === null || isRustVersion(value)) return value
  return pack.report('rust-version', 'a Rust version such as `1.70` or `1.70.0`')
}

function readAbout(root: Table, pack: Table): About {
  return {
    description: pack.text('description'),
    homepage: pack.text('homepage'),
    documentation: pack.text('documentation'),
    repository: pack.text('repository'),
    license: pack.text('license'),
    license_file: pack.text('license-file'),
    readme_file: null,
    keywords: pack.texts('keywords') ?? [],
    categories: pack.texts('categories') ?? [],
    authors: pack.texts('authors') ?? [],
    edition: pack.text('edition'),
    badges: readBadges(root),
  }
}

function readBadges(root: Table): About['badges'] {
  const table = root.table('badges')
  const badges = table?.keys().map(name => {
    const badge = table.table(name)
    return [
      name,
      Object.fromEntries(badge?.keys().map(key => [key, badge.text(key) ?? '']) ?? []),
    ] as const
  })
  return Object.fromEntries(badges ?? [])
}

function readTargets(root: Table, pack: Table): TargetHints {
  const lib = root.table('lib')
  return {
    lib: lib && { path: lib.text('path') },
    bins: root.tables('bin').map(bin => ({ name: bin.text('name'), path: bin.text('path') })),
    autolib: pack.flag('autolib') ?? true,
    autobins: pack.flag('autobins') ?? true,
    hasExamples: root.tables('example').length > 0,
  }
}

export const NOTHING_KNOWN: About = readAbout(new Table({}, '', []), new Table({}, '', []))
