import { refuse } from '../../core/error/error.ts'
import { isName, type Name } from '../../core/name.ts'
import { isVersion, type Version } from '../../core/version.ts'

/** Reads `NAME@VERSION`, or `NAME` alone, which means every version. */
export function parseSpec(spec: string): { name: Name; version: Version | null } {
  const at = spec.indexOf('@')
  const name = at < 0 ? spec : spec.slice(0, at)
  const version = at < 0 ? null : spec.slice(at + 1)
  if (!isName(name) || (version !== null && !isVersion(version)))
    return refuse('release_spec_invalid', { spec })
  return { name, version }
}
