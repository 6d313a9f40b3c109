import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { IMAGES_FOLDER, isImagePath } from '../../core/paths/images.ts'
import { type PageContext, pageTurn } from '../pages/context.ts'
import { eachCopy, forgetImages, isCopy, markUses } from '../store/catalog/pages/images.ts'
import { derivable, type Finding, type VerifyOptions } from './finding.ts'

/**
 * Compares the images of READMEs with their checksums, and finds those that no README shows. A
 * repair has the pages rendered again, which takes images from the `.crate` or downloads them.
 */
export async function* verifyImages(
  context: PageContext,
  { repair }: VerifyOptions,
): AsyncIterable<Finding> {
  const { database, tree } = context
  if (repair) await forgetImages(database)
  for await (const { path, source } of eachCopy(database)) {
    const bytes = await tree.read(path)
    const sum = bytes && createHash('sha256').update(bytes).digest('hex')
    if (sum === basename(path, extname(path))) continue
    if (repair) {
      await pageTurn(context, turn => turn.remove(path))
      await markUses(database, [source])
    }
    yield derivable(path, sum ? 'the image is damaged' : 'the image is missing', repair)
  }
  for await (const path of tree.list(IMAGES_FOLDER)) {
    if (!isImagePath(path)) continue
    // In a turn, no image is between its record and its file.
    const isUseless = await pageTurn(context, async turn => {
      if (await isCopy(database, path)) return false
      if (repair) await turn.remove(path)
      return true
    })
    if (isUseless) yield derivable(path, 'no README shows this image', repair)
  }
}
