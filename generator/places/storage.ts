import { join, resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { type BucketAddress, isBucket, parseBucketAddress } from '../../core/paths/bucket.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { Environment } from '../../core/settings/source.ts'
import type { BucketPlace } from './bucket-place.ts'
import type { Cdn, Sender } from './cdn.ts'
import { ChangeNumber } from './change-number.ts'
import { CrateStore } from './crate-store.ts'
import { isInside } from './disk/files.ts'
import { FolderPlace } from './folder-place.ts'
import type { Mirror, TreeRecords } from './mirror.ts'
import { PublicTree } from './public-tree.ts'

/**
 * Refuses a public tree that lies in the crate store, or has it or the registry folder in itself:
 * files that no crate has are removed from the tree.
 */
export function requireApart(root: string, storage: Settings['storage']): void {
  const [crates, tree] = [parseBucketAddress(storage.crates), parseBucketAddress(storage.public)]
  if (crates && tree) {
    const keysOf = ({ bucket, prefix }: BucketAddress) => `${bucket}/${prefix && `${prefix}/`}`
    const [ours, theirs] = [keysOf(crates), keysOf(tree)]
    if (ours.startsWith(theirs) || theirs.startsWith(ours))
      refuse('places_overlap', { one: storage.public, other: storage.crates })
    return
  }
  const folder = tree ? join(root, 'public') : resolve(root, storage.public)
  if (isInside(root, folder)) refuse('places_overlap', { one: folder, other: root })
  if (crates) return
  const store = resolve(root, storage.crates)
  if (isInside(store, folder) || isInside(folder, store))
    refuse('places_overlap', { one: folder, other: store })
}

/** Opens the crate store of a registry folder by the settings; connects to nothing yet. */
export async function openCrates(
  root: string,
  storage: Settings['storage'],
  env: Environment,
): Promise<CrateStore> {
  const bucket = await openBucket(storage.crates, storage, env)
  if (!bucket) return CrateStore.inFolder(resolve(root, storage.crates))
  return new CrateStore(bucket, join(root, 'cache'))
}

/**
 * Opens the public tree of a registry folder by the settings: a folder, and if they name a bucket,
 * the copy there, or the tree itself. `base`: the address at which readers have it.
 */
export async function openTree(
  root: string,
  { storage, cdn }: Pick<Settings, 'storage' | 'cdn'>,
  env: Environment,
  crates: CrateStore,
  base: string,
  records: TreeRecords,
  newSender: () => Sender,
): Promise<PublicTree> {
  const bucket = await openBucket(storage.public, storage, env)
  const folder = bucket ? join(root, 'public') : resolve(root, storage.public)
  let uploads: Mirror | null = null
  if (bucket) {
    // Most registries do not load these.
    const { Mirror } = await import('./mirror.ts')
    const isTree = isBucketTree(records.areShared, crates)
    const from = new FolderPlace(folder, { sync: 'never' })
    uploads = new Mirror(bucket, from, crates, records, isTree)
  }
  // Other machines do not update a change number here, so each file is looked at.
  const changes = records.areShared ? null : new ChangeNumber(join(root, 'locks', 'tree.changes'))
  const place = sharedPlace(storage.public)
  return new PublicTree(folder, 'each', {
    changes,
    uploads,
    cdn: await openCdn(cdn, base, newSender),
    place,
  })
}

/** Returns the `place` of a public tree by its setting, which daemons with a common folder share. */
export function sharedPlace(setting: string): string | null {
  return isBucket(setting) || setting === 'public' ? null : setting
}

/**
 * Returns whether a bucket with the public tree is the tree itself, and not a copy: with shared
 * records several daemons may write it, unless the `.crate` files are on one machine alone.
 */
export function isBucketTree(areShared: boolean, crates: CrateStore): boolean {
  return areShared && !crates.isLocal
}

async function openCdn(
  { purge_url, ...settings }: Settings['cdn'],
  base: string,
  newSender: () => Sender,
): Promise<Cdn | null> {
  if (purge_url === null) return null
  const { Cdn } = await import('./cdn.ts')
  return new Cdn({ ...settings, purge_url }, base, newSender())
}

/** Opens the bucket of an address, whose client it loads; null for a folder. Refuses the rest. */
export async function openBucket(
  place: string,
  storage: Settings['storage'],
  env: Environment,
): Promise<BucketPlace | null> {
  const address = parseBucketAddress(place)
  if (!address) return isBucket(place) ? refuse('bucket_address', { given: place }) : null
  const { endpoint, region, path_style: pathStyle, cache_seconds: seconds } = storage
  const { BucketPlace } = await import('./bucket-place.ts')
  return new BucketPlace({ address, endpoint, region, pathStyle, env }, seconds)
}
