import * as v from 'valibot'

/** What crates.io takes to yank or unyank a version, and to say why. */
export const yankBody = v.object({
  version: v.object({ yanked: v.nullish(v.boolean()), yank_message: v.nullish(v.string()) }),
})

/** What is said of the versions that fit a requirement. */
export const deprecationBody = v.object({
  requirement: v.optional(v.string(), '*'),
  reason: v.string(),
  use: v.nullish(v.string()),
})
