import type { Features } from './entry.ts'

/** Features as in an index line; `features2` is null when no feature needs it. */
export interface SplitFeatures {
  readonly features: Features
  readonly features2: Features | null
}

/**
 * Splits features for an index line (RFC 3143): one that uses `dep:` or `?/`, or leads to one that
 * does, moves to `features2`, because Cargo before 1.60 cannot read it. Visits each value once.
 */
export function splitFeatures(features: Features): SplitFeatures {
  const users = new Map<string, string[]>()
  const moved = new Set<string>()
  for (const [name, values] of Object.entries(features)) {
    if (values.some(needsFeatures2)) moved.add(name)
    for (const value of values) {
      const list = users.get(value)
      if (list) list.push(name)
      else users.set(value, [name])
    }
  }
  // The loop also visits what it adds to the set.
  for (const name of moved) for (const user of users.get(name) ?? []) moved.add(user)
  if (moved.size === 0) return { features, features2: null }
  return {
    features: pick(features, name => !moved.has(name)),
    features2: pick(features, name => moved.has(name)),
  }
}

function needsFeatures2(value: string): boolean {
  return value.startsWith('dep:') || value.includes('?/')
}

function pick(features: Features, wanted: (name: string) => boolean): Features {
  return Object.fromEntries(Object.entries(features).filter(([name]) => wanted(name)))
}
