import { refuse } from '../../../core/error/error.ts'
import { isName, type Name } from '../../../core/name.ts'
import { isVersion, type Version } from '../../../core/version.ts'

/** Reads `NAME@VERSION`, or `NAME` alone, which means every version. */
export function parseSpec(spec: string): { name: Name; version: Version | null } {
  const [name = '', ...rest] = spec.split('@')
  const version = rest.length > 0 ? rest.join('@') : null
  if (!isName(name) || (version !== null && !isVersion(version)))
    return refuse('release_spec_invalid', { spec })
  return { name, version }
}
