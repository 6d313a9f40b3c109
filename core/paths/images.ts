/** Folder of the images of a README, in the folder of its version. */
export const IMAGES_FOLDER = 'images'

const FILE = /^[0-9a-f]{64}\.(?:png|jpg|gif|webp|avif|svg)$/

/** Whether `path` is an image of a version. */
export function isImagePath(path: string): boolean {
  const parts = path.split('/')
  const isInPlace = parts.length === 5 && parts[0] === 'crates' && parts[3] === IMAGES_FOLDER
  return isInPlace && FILE.test(parts[4] ?? '')
}
