import type { Context } from 'hono'
import * as v from 'valibot'
import {
  addSubmission,
  collect,
  type Issue,
  type Name,
  type PublishMetadata,
  parseName,
  parseVersion,
  publishMetadata,
  type Registry,
  refuse,
  refuseErrors,
  timestamp,
} from '../generator/index.ts'
import { type Actor, changeBy, coversCrate, hasScope } from './auth.ts'
import type { Metrics } from './metrics.ts'
import { decodePublish } from './publish-body.ts'
import type { Regenerator } from './regenerate.ts'
import type { ActorHandler } from './route.ts'

/** What publishing needs. */
export interface PublishDeps {
  readonly registry: Registry
  readonly regenerator: Regenerator
  readonly clock: () => Date
  readonly metrics: Metrics
}

/**
 * `PUT /api/v1/crates/new` (specification section 4, publish). Answers when the version is on disk, in the catalog and
 * in its index file, which Cargo polls for at once.
 */
export function publish(deps: PublishDeps): ActorHandler {
  return async (c, actor) => {
    const { registry, regenerator } = deps
    const { metadata_bytes, crate_bytes } = registry.settings.limits
    const announced = Number(c.req.header('content-length') ?? 0)
    if (announced > metadata_bytes + crate_bytes + 8) refuse('crate_too_big', { max: crate_bytes })
    const limits = { metadataBytes: metadata_bytes, crateBytes: crate_bytes }
    const body = await decodePublish(bodyOf(c), limits)
    const said = parseMetadata(body.metadata)
    const issues: Issue[] = []
    const name = collect(issues, () => parseName(said.name))
    const version = collect(issues, () => parseVersion(said.vers))
    if (!name || !version) {
      refuseErrors(issues)
      throw new Error('neither a name nor an objection to it')
    }
    await requireScope(registry, actor, name)
    const now = deps.clock()
    const staged = await registry.crates.stage(body.crate, crate_bytes)
    try {
      const submission = { bytes: staged, metadata: { name, version, said }, pubtime: timestamp(now) }
      const accepted = await addSubmission(registry, submission, changeBy(actor, now))
      deps.metrics.published(accepted.outcome)
      const other = accepted.warnings.map(one => one.message)
      const shown = await regenerator.crate(accepted.crateId)
      if (!shown) other.push(`the index of \`${name}\` could not be written yet; the daemon keeps trying`)
      const { invalidCategories, invalidBadges } = accepted
      return c.json({
        warnings: { invalid_categories: invalidCategories, invalid_badges: invalidBadges, other },
      })
    } finally {
      await staged.discard()
    }
  }
}

/** The scope depends on whether the crate exists, the pattern on its name. */
async function requireScope(registry: Registry, actor: Actor, name: Name): Promise<void> {
  const scope = (await registry.catalog.find(name)) ? 'publish-update' : 'publish-new'
  if (!hasScope(actor, scope)) refuse('scope_missing', { scope })
  if (!coversCrate(actor, name)) refuse('crate_not_covered', { name })
}

/** Unknown fields are ignored, missing ones are null (specification section 9). */
function parseMetadata(json: unknown): PublishMetadata {
  const result = v.safeParse(publishMetadata, json)
  if (result.success) return result.output
  const [first] = result.issues
  return refuse('metadata_invalid', { reason: `${v.getDotPath(first) ?? 'the whole'}: ${first.message}` })
}

async function* bodyOf(c: Context): AsyncIterable<Uint8Array> {
  if (c.req.raw.body) yield* c.req.raw.body
}
