import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { faviconPath } from '../../core/paths/listings.ts'
import { ASSETS_FOLDER, type Output, output } from '../../core/paths/tree.ts'

/** Folder where `npm run build` writes the bundled, minified scripts and styles. */
const BUILT = new URL('../../assets/', import.meta.url)

/** Contents of all assets; they are part of the program, so they are read only once. */
const contents: readonly [name: string, bytes: Buffer][] = readdirSync(BUILT, { recursive: true })
  .map(name => String(name).replaceAll('\\', '/'))
  .filter(name => statSync(new URL(name, BUILT)).isFile())
  .sort()
  .map(name => [name, readFileSync(new URL(name, BUILT))])

const sum = createHash('sha256')
for (const [name, bytes] of contents) sum.update(`${name}\0`).update(bytes).update('\0')

/** The folder name contains a hash of all files, so each of them can be cached forever. */
const folder = `${ASSETS_FOLDER}/${sum.digest('hex').slice(0, 12)}`

export const assets: readonly Output[] = contents.map(([name, bytes]) =>
  output(`${folder}/${name}`, bytes),
)

/** The icon that browsers request at the root, for pages that name none and for other files. */
export const favicon: Output = output(
  faviconPath,
  contents.find(([name]) => name === 'favicon.ico')?.[1] ?? '',
)

/** Returns the path of an asset; throws for an unknown name. */
export function assetPath(name: string): string {
  const path = `${folder}/${name}`
  if (!assets.some(asset => asset.path === path)) throw new Error(`the site has no asset ${name}`)
  return path
}
