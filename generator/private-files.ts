import { chmod, lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside, readFolder, unlessMissing } from './places/disk/files.ts'

/** The folders and files of a registry besides the public tree and its operator's. */
const OURS = /^(?:plimsoll\.(?:toml|original\.toml|db.*)|locks|index\.git\.off|\.writing-.*)$/

/**
 * Makes what is not public in a registry folder private: for its owner alone. Makes `store`, the
 * folder with the `.crate` files or copies of them, if it is to be in there; its files are links to
 * those of the public tree, so only the folder can be private.
 */
export async function keepPrivate(dir: string, store: string): Promise<void> {
  for (const { name } of await readFolder(dir))
    if (OURS.test(name)) await makePrivate(join(dir, name))
  for (const { name } of await readFolder(join(dir, 'locks')))
    await makePrivate(join(dir, 'locks', name))
  if (!isInside(store, dir)) return
  await mkdir(store, { recursive: true, mode: 0o700 })
  await makePrivate(store)
}

/** Takes the rights of other users away from a file or folder. */
export async function makePrivate(path: string): Promise<void> {
  const stats = await unlessMissing(lstat(path))
  if (!(stats?.isFile() || stats?.isDirectory()) || (stats.mode & 0o077) === 0) return
  try {
    await unlessMissing(chmod(path, stats.mode & 0o700))
  } catch (error) {
    // The settings may be those of another user, or mounted read-only: whoever did that decides.
    if (!['EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
