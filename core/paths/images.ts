/** Folder of images of READMEs, named by their bytes. */
export const IMAGES_FOLDER = 'images'

/** Returns the path of an image with this SHA-256. */
export function imagePath(sha256: string, extension: string): string {
  return `${IMAGES_FOLDER}/${sha256.slice(0, 2)}/${sha256}.${extension}`
}

/** Whether `imagePath` can return `path`; other files there belong to the operator. */
export function isImagePath(path: string): boolean {
  return /^images\/([0-9a-f]{2})\/\1[0-9a-f]{62}\.(?:png|jpg|gif|webp|avif|svg)$/.test(path)
}
