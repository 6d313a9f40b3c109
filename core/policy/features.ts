import type { Features } from '../entry/entry.ts'
import { type Issue, issue } from '../error/error.ts'
import type { PolicySettings } from '../settings/settings.ts'

/** How many features there may be, and how many items each may enable. */
export function checkFeatureLimits(features: Features, policy: PolicySettings): Issue[] {
  const all = Object.entries(features)
  const max = policy.features_max
  if (all.length > max) return [issue('features_too_many', { count: all.length, max })]
  return all.flatMap(([feature, { length: count }]) =>
    count > policy.feature_items_max
      ? [issue('feature_items_too_many', { feature, count, max: policy.feature_items_max })]
      : [],
  )
}
