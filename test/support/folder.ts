import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { sumOf } from '../../generator/places/disk/files.ts'

/** Every file below a folder, by path with `/`, sorted; hidden ones, too. */
export function filesBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names
    .filter(name => statSync(join(folder, name)).isFile())
    .map(name => name.split(sep).join('/'))
    .sort()
}

/** One digest of all paths and bytes below a folder. */
export function treeDigest(folder: string): string {
  const hash = createHash('sha256')
  for (const path of filesBelow(folder))
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(folder, path)))
      .update('\0')
  return hash.digest('hex')
}

/** The inode and time of modification of each file, by path: both change when it is written. */
export function fileStamps(folder: string): Record<string, string> {
  const stamp = (path: string) => {
    const { ino, mtimeNs } = statSync(join(folder, path), { bigint: true })
    return `${ino} ${mtimeNs}`
  }
  return Object.fromEntries(filesBelow(folder).map(path => [path, stamp(path)]))
}

/** The checksums of all files below a folder but the git index, which has a history. */
export function sumsBelow(folder: string): Map<string, string> {
  const paths = filesBelow(folder).filter(path => !path.startsWith('index.git/'))
  return new Map(paths.map(path => [path, sumOf('sha256', readFileSync(join(folder, path)))]))
}
