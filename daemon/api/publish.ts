import type { Context } from 'hono'
import * as v from 'valibot'
import {
  collect,
  groupWarnings,
  type Issue,
  issue,
  refuse,
  refuseErrors,
} from '../../core/error/error.ts'
import { type Name, parseName } from '../../core/name.ts'
import { isObject } from '../../core/plain-data.ts'
import { type PublishMetadata, publishMetadata } from '../../core/release/metadata.ts'
import { parseVersion, type Version } from '../../core/version.ts'
import { pace } from '../../generator/database/pace.ts'
import { requireUnpaused } from '../../generator/records/pause.ts'
import { type ExistingRelease, readExisting } from '../../generator/records/releases-stored.ts'
import { prepareThreads } from '../../generator/registry/changes/publish.ts'
import { trustedChange } from '../../generator/trust/trusted-tokens.ts'
import { takenFrom } from '../../generator/upstream/names.ts'
import { type Actor, changeBy, countedAs, coversCrate, hasScope } from '../access/auth.ts'
import { recordReading } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { logFailure, recordSubject } from '../http/log.ts'
import { ByteCollector, bodyOf } from '../http/request-body.ts'

/** `PUT /api/v1/crates/new`: answers once the version is on disk, in the records and the index. */
export async function publish(deps: Deps, c: Context, actor: Actor) {
  const { registry, indexWorker } = deps
  prepareThreads()
  // Before the body arrives; the transaction asks again.
  await requireUnpaused(registry.database)
  const { crate_bytes: crateBytes, metadata_bytes: metadataBytes } = registry.settings.limits
  const body = await decodePublish(bodyOf(c.req.raw), { metadataBytes, crateBytes })
  // Thousands of features take milliseconds to parse, and again to validate.
  await pace()
  const metadata = timed(c, () => readMetadata(parseJson(body.metadata)))
  await pace()
  recordSubject(c, { crate: metadata.name, version: metadata.version })
  const change =
    actor.who === 'user'
      ? changeBy(actor, registry)
      : await trustedChange(registry, actor, metadata.name)
  const existing = await readExisting(registry.database, metadata, change)
  requireScope(actor, metadata.name, existing)
  const staged = await registry.crates.stage(body.crate, crateBytes)
  try {
    const accepted = await indexWorker.publish(
      {
        bytes: staged,
        metadata,
        existing,
        pubtime: change.at,
        client: { id: countedAs(actor), onUsed: milliseconds => recordReading(c, milliseconds) },
        // The crate may have been published by others while the request arrived.
        permit: async (_, crate) => requireScope(actor, metadata.name, crate),
      },
      change,
    )
    deps.metrics.published(accepted.outcome)
    deps.git?.wake()
    const others = accepted.warnings.filter(({ code }) => code !== 'category_unknown')
    const mayTake = !existing.crate && deps.upstreams.byName.size > 0
    const taken = mayTake ? await takenNames(deps, metadata.name, change.at) : []
    const late = accepted.isShown ? [] : [issue('index_late', { name: metadata.name })]
    return c.json({
      warnings: {
        invalid_categories: accepted.invalidCategories,
        invalid_badges: accepted.invalidBadges,
        other: [...taken, ...groupWarnings(others), ...late].map(warning => warning.message),
      },
    })
  } finally {
    await staged.discard()
  }
}

/** Warns of upstreams whose crate a new one replaces; what fails then is no failure of the publish. */
async function takenNames({ upstreams, log }: Deps, name: Name, at: string): Promise<Issue[]> {
  try {
    return await takenFrom(upstreams, name, at)
  } catch (error) {
    logFailure(log, error, 'cannot compare a new name with those of upstreams')
    return []
  }
}

/** Does work whose time counts toward the user's publishes, also if it fails. */
function timed<T>(c: Context, work: () => T): T {
  const began = performance.now()
  try {
    return work()
  } finally {
    recordReading(c, performance.now() - began)
  }
}

function requireScope(actor: Actor, name: Name, { crate }: ExistingRelease): void {
  const issues: Issue[] = []
  const scope = crate ? 'publish-update' : 'publish-new'
  if (!hasScope(actor, scope)) issues.push(issue('scope_missing', { scope }))
  if (!coversCrate(actor, name)) issues.push(issue('crate_not_covered', { name }))
  refuseErrors(issues)
}

const FAULTS_MAX = 20

/** The most faults that are looked for: each takes microseconds, in which all others wait. */
const FAULTS_READ = 2000
const TOO_MANY = 'it has more than 2,000 faults'

/** Ignores unknown fields, reads missing ones as null, and refuses wrong ones. */
function readMetadata(json: unknown): { name: Name; version: Version; declared: PublishMetadata } {
  let faults = 0
  const message = (fault: v.BaseIssue<unknown>) => {
    if (++faults > FAULTS_READ) refuseErrors([issue('metadata_invalid', { reason: TOO_MANY })])
    return fault.message
  }
  const result = v.safeParse(publishMetadata, json, { message })
  const issues = (result.issues ?? []).slice(0, FAULTS_MAX).map(fieldIssue)
  // Also if the rest is invalid.
  const { name: saidName, vers } = isObject(json) ? json : {}
  const name = typeof saidName === 'string' && collect(issues, () => parseName(saidName))
  const version = typeof vers === 'string' && collect(issues, () => parseVersion(vers))
  refuseErrors(issues)
  if (!result.success || !name || !version)
    throw new Error('the metadata is invalid, but no issue was found')
  return { name, version, declared: result.output }
}

function fieldIssue(fault: v.BaseIssue<unknown>): Issue {
  const { expected, received, message } = fault
  const reason =
    received === 'undefined'
      ? 'it is missing'
      : expected
        ? `it is ${received} instead of ${expected}`
        : message
  const field = v.getDotPath(fault)
  return field === null
    ? issue('metadata_invalid', { reason })
    : issue('metadata_field', { field, reason })
}

/** The least bytes of a `.crate` that are passed on together. */
const CHUNK_BYTES = 16 * 1024

export interface PublishBody {
  /** JSON, for `parseJson`. */
  readonly metadata: Uint8Array
  /** The bytes of the `.crate`, to be read once; at their end it refuses any further bytes. */
  readonly crate: AsyncIterable<Uint8Array>
}

/**
 * Decodes the body of a publish request: u32 LE length, JSON, u32 LE length, `.crate` and no more
 * (specification section 4). Refuses wrong lengths, that of the `.crate` while `crate` is read.
 */
export async function decodePublish(
  source: AsyncIterable<Uint8Array>,
  limits: { readonly metadataBytes: number; readonly crateBytes: number },
): Promise<PublishBody> {
  const read = reader(source)
  const jsonLength = await length(read, 'metadata')
  if (jsonLength > limits.metadataBytes)
    refuse('metadata_too_big', { size: jsonLength, max: limits.metadataBytes })
  const metadata = await whole(read, 'metadata', jsonLength)
  return { metadata, crate: last(read, '.crate', limits.crateBytes) }
}

async function length(read: Read, part: string): Promise<number> {
  return (await whole(read, `length of the ${part}`, 4)).readUInt32LE()
}

/** Parses the metadata; refuses invalid JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return refuse('metadata_invalid', { reason: (error as Error).message })
  }
}

async function whole(read: Read, part: string, announced: number): Promise<Buffer> {
  const bytes = new ByteCollector()
  while (bytes.size < announced) bytes.add(await next(read, part, announced, bytes.size))
  return bytes.take()
}

async function* last(read: Read, part: string, max: number): AsyncIterable<Uint8Array> {
  const announced = await length(read, part)
  if (announced > max) refuse('crate_too_big', { max })
  const held = new ByteCollector()
  for (let at = 0; at < announced; ) {
    const chunk = await next(read, part, announced, at)
    at += chunk.byteLength
    held.add(chunk)
    // Each chunk is a step of its own when it is written.
    if (held.size >= CHUNK_BYTES || at === announced) yield held.take()
  }
  if (await read(1)) refuse('body_long', { announced })
}

/** Reads more of a part of which `at` bytes are there. */
async function next(read: Read, part: string, announced: number, at: number): Promise<Uint8Array> {
  return (await read(announced - at)) ?? refuse('body_short', { part, announced })
}

/** Returns between one and `size` bytes, or null at the end of the stream. */
type Read = (size: number) => Promise<Uint8Array | null>

function reader(source: AsyncIterable<Uint8Array>): Read {
  const chunks = source[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array(0)
  return async size => {
    while (rest.byteLength === 0) {
      const next = await chunks.next()
      if (next.done) return null
      rest = next.value
    }
    const piece = rest.subarray(0, size)
    rest = rest.subarray(size)
    return piece
  }
}
