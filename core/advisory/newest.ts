import { type Requirement, readComparators, satisfies } from '../requirement.ts'
import { compareVersions, type Version, versionParts } from '../version.ts'
import { following, type VersionRange } from './ranges.ts'

/**
 * Returns a version as new as any that fits a requirement, where nobody knows which there are: as
 * if all existed that the requirement and some ranges name, and those after them. Undefined if none
 * of these fits.
 */
export function newestFit(
  requirement: Requirement,
  ranges: readonly VersionRange[],
): Version | undefined {
  const named = (readComparators(requirement) ?? []).map(({ major, minor, patch, pre }) => {
    const suffix = pre.length > 0 ? `-${pre.join('.')}` : ''
    return `${major}.${minor ?? 0}.${patch ?? 0}${suffix}` as Version
  })
  const bounds = ranges.flatMap(({ introduced, fixed }) => [introduced, ...(fixed ? [fixed] : [])])
  const releases = [...bounds, ...named, ...named.map(following)].map(version => {
    const { major, minor, patch } = versionParts(version)
    return `${major}.${minor}.${patch}` as Version
  })
  const fitting = [...releases, ...named].filter(version => satisfies(requirement, version))
  return fitting.sort(compareVersions).at(-1)
}
