import { createHash } from 'node:crypto'
import type { Workshop } from './build.ts'
import { rebuildCrate } from './build.ts'
import type { CrateRecord, ReleaseRecord } from './catalog/record.ts'
import { isMissing } from './durable-file.ts'
import { parseEntry } from './entry.ts'
import { Refusal } from './error.ts'
import type { Name } from './name.ts'
import { CRATES_FOLDER, configPlace, crateKey, cratePlace, INDEX_FOLDER, indexPlace } from './paths.ts'
import { renderConfig, renderIndex } from './render.ts'

/** A difference between two things that should agree. `lost` cannot be derived from anything else here. */
export interface Finding {
  readonly where: string
  readonly what: string
  readonly lost: boolean
  readonly repaired: boolean
}

/** How a verification goes about it. */
export interface VerifyOptions {
  /** Mend what can be derived. */
  readonly repair: boolean
  /** Whether a daemon is at work: then what is marked as pending is its business and no finding. */
  readonly served: boolean
  readonly progress?: (done: number, total: number) => void
}

/** Holds catalog, crate store and public tree against each other, byte for byte; yields what differs. */
export async function* verify(workshop: Workshop, options: VerifyOptions): AsyncIterable<Finding> {
  const { crates: total } = await workshop.catalog.counts()
  const names = new Set<Name>()
  const keys = new Set<string>()
  let done = 0
  for await (const crate of workshop.catalog.crates()) {
    names.add(crate.name)
    yield* await workshop.turnstile.run(() => verifyCrate(workshop, crate.id, keys, options))
    done++
    options.progress?.(done, total)
  }
  yield* await verifyConfig(workshop, options)
  yield* strayFiles(workshop, names, options)
  yield* strayBytes(workshop, keys, options)
}

async function verifyCrate(
  workshop: Workshop,
  crateId: number,
  keys: Set<string>,
  options: VerifyOptions,
): Promise<Finding[]> {
  const crate = await workshop.catalog.crate(crateId)
  if (!crate) return []
  const findings: Finding[] = []
  const derivable = (where: string, what: string) =>
    findings.push({ where, what, lost: false, repaired: options.repair })
  const isPending = (await workshop.catalog.fileMarks(crateId)).length > 0
  const releases = await workshop.catalog.releases(crateId)
  for (const release of releases) {
    const key = crateKey(crate.name, release.cksum)
    keys.add(key)
    const fault = (await storeFault(workshop, key, release)) ?? lineFault(crate, release)
    if (fault) findings.push({ where: `${crate.name}@${release.version}`, what: fault, lost: true, repaired: false })
  }
  if (isPending && options.served) return findings
  for (const release of releases) {
    const { path } = cratePlace(crate.name, release.version)
    const shown = await workshop.tree.read(path)
    if (!shown) derivable(path, 'the .crate is not in the public tree')
    else if (sha256(shown) !== release.cksum) derivable(path, 'the bytes are not those of the catalog')
  }
  const expected = renderIndex(
    crate.name,
    releases.map(one => one.line),
  )
  const present = await workshop.tree.read(expected.path)
  if (!present && releases.length > 0) derivable(expected.path, 'the index file is missing')
  else if (present && releases.length === 0) derivable(expected.path, 'belongs to a crate without versions')
  else if (present && !present.equals(expected.bytes))
    derivable(expected.path, 'the index file differs from the catalog')
  if (options.repair && findings.some(one => one.repaired)) await rebuildCrate(workshop, crateId)
  return findings
}

async function storeFault(workshop: Workshop, key: string, release: ReleaseRecord): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of workshop.crates.open(key)) hash.update(chunk)
  } catch (error) {
    if (isMissing(error)) return `the .crate is missing from the crate store (${key})`
    throw error
  }
  return hash.digest('hex') === release.cksum ? null : `the bytes in the crate store are not those published (${key})`
}

function lineFault(crate: CrateRecord, release: ReleaseRecord): string | null {
  try {
    const entry = parseEntry(release.line)
    const agrees =
      entry.name === crate.name &&
      entry.vers === release.version &&
      entry.cksum === release.cksum &&
      entry.yanked === release.yanked
    return agrees ? null : 'the index entry in the catalog contradicts the record it belongs to'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `the index entry in the catalog is broken: ${error.message}`
  }
}

async function verifyConfig(workshop: Workshop, options: VerifyOptions): Promise<Finding[]> {
  const expected = renderConfig(workshop.urls, workshop.authRequired)
  const present = await workshop.tree.read(configPlace.path)
  if (present?.equals(expected.bytes)) return []
  if (options.repair) await workshop.tree.write(expected)
  const what = present ? 'differs from the settings' : 'is missing'
  return [{ where: configPlace.path, what, lost: false, repaired: options.repair }]
}

async function* strayFiles(
  workshop: Workshop,
  names: ReadonlySet<Name>,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  const places = new Set([configPlace.path, ...[...names].map(name => indexPlace(name).path)])
  for (const folder of [INDEX_FOLDER, CRATES_FOLDER]) {
    for await (const path of workshop.tree.list(folder)) {
      const isKnown = folder === INDEX_FOLDER ? places.has(path) : names.has(path.split('/')[1] as Name)
      if (isKnown) continue
      if (options.repair) await workshop.tree.remove(path)
      yield { where: path, what: 'belongs to no crate of the catalog', lost: false, repaired: options.repair }
    }
  }
}

/** Bytes without a release are what a crash or a refused retry may leave; they harm nobody and are no finding. */
async function* strayBytes(
  workshop: Workshop,
  keys: ReadonlySet<string>,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  if (!options.repair || options.served) return
  for await (const key of workshop.crates.list()) {
    if (keys.has(key)) continue
    await workshop.crates.remove(key)
    yield { where: key, what: 'bytes that belong to no release were removed', lost: false, repaired: true }
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
