import { crateKey } from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { ImageCopies, ImageCopy } from '../../site/readme/images.ts'
import type { RenderedReadme } from '../../site/readme/readme.ts'
import { unpackedLimit } from '../sandbox/archive.ts'
import type { CheckedImage, ImageCheck } from '../sandbox/image-task.ts'
import { packagedImages } from '../sandbox/rendering.ts'
import type { CrateRecord } from '../store/catalog/crates.ts'
import {
  failImage,
  findImages,
  type ImageRow,
  imagesOf,
  keepImage,
  loseImages,
  useImages,
} from '../store/catalog/pages/images.ts'
import type { ReleaseRecord } from '../store/catalog/releases.ts'
import type { PageContext } from './context.ts'

/** A release whose README is rendered. */
type Release = Pick<ReleaseRecord, 'id' | 'cksum'> & Pick<CrateRecord, 'name'>

/** Copies by the source of the image. */
type Found = Map<string, ImageCopy>

/**
 * Renders a README with the images that the public tree has. Returns also the files that it must
 * get: images from the `.crate` itself. Records which others to download; `render` is called again
 * when there are more copies than before.
 */
export async function withImages<Readme extends RenderedReadme>(
  context: PageContext,
  release: Release,
  render: (copies: ImageCopies) => Promise<Readme>,
): Promise<{ readonly readme: Readme; readonly files: readonly Output[] }> {
  const { database } = context
  const inPackage = `crate:${release.cksum}/`
  const sourceOf = (key: string) => (key.startsWith('./') ? inPackage + key.slice(2) : key)
  const keyOf = (source: string) =>
    source.startsWith(inPackage) ? `./${source.slice(inPackage.length)}` : source
  const copies = (found: Found) => new Map([...found].map(([one, copy]) => [keyOf(one), copy]))

  const known = await imagesOf(database, release.id)
  const before = await present(context, known)
  const first = await render(copies(before))
  const sources = first.images.map(sourceOf)
  if (isSame(sources, known) && known.every(one => one.path === null || before.has(one.source)))
    return { readme: first, files: [] }

  const rows = await findImages(database, sources)
  const found = await present(context, rows)
  const lost = rows.filter(one => one.path !== null && !found.has(one.source))
  const isNew = (source: string) => !rows.some(one => one.source === source && !lost.includes(one))
  const wanted = sources.filter(one => one.startsWith(inPackage) && isNew(one))
  const taken = await takeFromPackage(context, release, wanted.map(keyOf))
  for (const [key, check] of taken) if ('path' in check) found.set(sourceOf(key), copyOf(check))
  const hasMore = [...found.keys()].some(source => !before.has(source))
  const readme = hasMore ? await render(copies(found)) : first
  const files = [...taken.values()].flatMap(one => ('path' in one ? [fileOf(one)] : []))
  if (context.isTrial) return { readme, files }
  const at = timestamp(context.clock())
  await useImages(database, release.id, readme.images.map(sourceOf), at)
  for (const [key, check] of taken) {
    if ('path' in check) await keepImage(database, sourceOf(key), check)
    else await failImage(database, sourceOf(key), check.problem, null)
  }
  const remote = lost.map(one => one.source).filter(source => !source.startsWith(inPackage))
  if (remote.length > 0) await loseImages(database, remote, at)
  return { readme, files }
}

/** Returns the file of the public tree for a checked image. */
export function fileOf({ path, bytes }: CheckedImage): Output {
  return output(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

function copyOf({ path, width, height, bytes }: CheckedImage): ImageCopy {
  return { path, width, height, bytes: bytes.byteLength }
}

function isSame(sources: readonly string[], known: readonly ImageRow[]): boolean {
  return sources.length === known.length && known.every(one => sources.includes(one.source))
}

/** Returns the copies whose files are there: somebody may have removed the tree. */
async function present({ tree }: PageContext, rows: readonly ImageRow[]): Promise<Found> {
  const found: Found = new Map()
  for (const { source, path, width, height, bytes } of rows)
    if (path !== null && (await tree.has(path))) found.set(source, { path, width, height, bytes })
  return found
}

/** Reads images from the `.crate`; every key gets a result. */
async function takeFromPackage(
  { crates, images }: PageContext,
  { name, cksum }: Release,
  keys: readonly string[],
): Promise<Map<string, ImageCheck>> {
  const file = keys.length === 0 ? null : await crates.localFile(crateKey(name, cksum))
  if (file === null) return new Map()
  const found = await packagedImages({
    path: file.path,
    files: keys.map(one => one.slice(2)),
    bytes: images.bytes,
    unpackedBytes: unpackedLimit(file.size),
  })
  const missing = { problem: 'the package has no such file, or it is too large' }
  return new Map(keys.map(one => [one, found.get(one.slice(2)) ?? missing]))
}
