import type { Dependency, DependencyKind } from '../entry/entry.ts'
import { collect, type Issue, issue } from '../error/error.ts'
import { CRATES_IO, isIndexUrl } from '../index-url.ts'
import { isAlias, isName } from '../name.ts'
import { parseRequirement, type Requirement } from '../requirement.ts'
import { isTarget, printTarget, TARGET_FORM } from '../target.ts'
import { isTable } from '../toml.ts'
import { isInherited, Table } from './table.ts'

const TABLES: readonly (readonly [DependencyKind, string, string?])[] = [
  ['normal', 'dependencies'],
  ['build', 'build-dependencies', 'build_dependencies'],
  ['dev', 'dev-dependencies', 'dev_dependencies'],
]

/** Returns all dependencies of a manifest, of every kind and target. */
export function readDependencies(root: Table, issues: Issue[]): Dependency[] {
  const dependencies = readKinds(root, null, issues)
  const targets = root.table('target')
  for (const target of targets?.keys() ?? []) {
    // Cargo also reads those without dependencies.
    if (!isTarget(target)) targets?.report(target, TARGET_FORM)
    const table = targets?.table(target)
    if (table) dependencies.push(...readKinds(table, printTarget(target), issues))
  }
  return dependencies
}

function readKinds(parent: Table, target: string | null, issues: Issue[]): Dependency[] {
  return TABLES.flatMap(([kind, key, legacy = key]) => {
    const table = parent.table(parent.raw(key) === undefined ? legacy : key)
    if (!table) return []
    return table.keys().flatMap(name => readOne(table, name, kind, target, issues) ?? [])
  })
}

function readOne(
  parent: Table,
  name: string,
  kind: DependencyKind,
  target: string | null,
  issues: Issue[],
): Dependency | null {
  const value = parent.raw(name)
  if (isInherited(value)) {
    issues.push(issue('manifest_inherited', { field: parent.path(name) }))
    return null
  }
  if (value === undefined || (typeof value !== 'string' && !isTable(value)))
    return parent.report(name, 'a version or a table')
  const table = new Table(
    typeof value === 'string' ? { version: value } : value,
    parent.path(name),
    issues,
  )
  // Cargo omits dev-dependencies that have only a path or a git repository.
  const isLocal = table.raw('path') !== undefined || table.raw('git') !== undefined
  if (kind === 'dev' && isLocal && table.raw('version') === undefined) return null
  const field = parent.path(name)
  const renamed = table.text('package')
  checkNames(name, renamed, field, issues)
  const optional = table.flag('optional') ?? false
  if (kind === 'dev' && optional) issues.push(issue('manifest_optional_dev', { field }))
  const registryIndex = table.text('registry-index')
  const registry = table.text('registry')
  if (registry !== null && registryIndex === null)
    issues.push(issue('manifest_registry_name', { field, registry }))
  if (registryIndex !== null && !isIndexUrl(registryIndex)) {
    table.report('registry-index', 'the URL of an index')
  }
  const artifact =
    typeof table.raw('artifact') === 'string'
      ? [table.text('artifact') ?? '']
      : table.texts('artifact')
  const bindep_target = table.text('target')
  const lib = table.flag('lib') ?? false
  return {
    name,
    kind,
    target,
    req: readRequirement(table, field, issues),
    features: (table.texts('features') ?? []).filter(feature => feature !== ''),
    optional,
    default_features: table.flag('default-features') ?? table.flag('default_features') ?? true,
    registry: registryIndex ?? CRATES_IO,
    package: renamed,
    ...(artifact && { artifact, bindep_target, lib }),
  }
}

function readRequirement(table: Table, field: string, issues: Issue[]): Requirement {
  const text = table.text('version')
  const problems: Issue[] = []
  const requirement = collect(problems, () => parseRequirement(text ?? '*'))
  for (const problem of problems)
    issues.push(issue('manifest_requirement', { field, reason: problem.message }))
  return requirement ?? parseRequirement('*')
}

function checkNames(name: string, renamed: string | null, field: string, issues: Issue[]): void {
  if (!isAlias(name) || (renamed === null && !isName(name))) {
    issues.push(issue('manifest_dependency_name', { field, name }))
  }
  if (renamed !== null && !isName(renamed))
    issues.push(issue('manifest_dependency_name', { field, name: renamed }))
}
