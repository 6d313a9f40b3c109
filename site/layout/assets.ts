import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { type Output, output } from '../../core/output.ts'

/** Where `npm run build` leaves scripts and styles, bundled and minified. */
const BUILT = new URL('../../assets/', import.meta.url)

/** Scripts and styles are part of the program, so they are read once, when it is loaded. */
const contents: readonly [name: string, bytes: Buffer][] = readdirSync(BUILT, { recursive: true })
  .map(name => String(name).replaceAll('\\', '/'))
  .filter(name => statSync(new URL(name, BUILT)).isFile())
  .sort()
  .map(name => [name, readFileSync(new URL(name, BUILT))])

/** One folder named by a hash over everything: each file is immutable there. */
const folder = `assets/${hash(contents)}`

/** All assets of the site, to be written into the public tree. */
export const assets: readonly Output[] = contents.map(([name, bytes]) =>
  output(`${folder}/${name}`, bytes),
)

/** Path of an asset; throws on a name there is none of, so that no page asks for a missing file. */
export function assetPath(name: string): string {
  const path = `${folder}/${name}`
  if (!assets.some(asset => asset.path === path)) throw new Error(`the site has no asset ${name}`)
  return path
}

function hash(files: readonly [string, Buffer][]): string {
  const sum = createHash('sha256')
  for (const [name, bytes] of files) sum.update(`${name}\0`).update(bytes).update('\0')
  return sum.digest('hex').slice(0, 12)
}
