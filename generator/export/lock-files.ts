import { refuse } from '../../core/error/error.ts'
import { gather } from '../../core/tarball/bytes.ts'
import { LOCK_MAX, type LockFile, parseLockFile } from '../../core/upstream/lock-file.ts'
import { openFile } from '../places/disk/files.ts'

/** Reads lock files of Cargo as one, with each package once; refuses a missing or wrong one. */
export async function readLockFiles(paths: readonly string[]): Promise<LockFile> {
  const packages = new Map<string, LockFile['packages'][number]>()
  const others = new Set<string>()
  for (const path of paths) {
    // A byte more than is accepted tells that there are more.
    const opened = await openFile(path, { start: 0, end: LOCK_MAX })
    if (!opened) return refuse('file_missing', { path })
    const text = new TextDecoder().decode(await gather(opened.bytes))
    const lock = parseLockFile({ name: path, text })
    for (const locked of lock.packages)
      packages.set(`${locked.source} ${locked.name} ${locked.version} ${locked.checksum}`, locked)
    for (const name of lock.others) others.add(name)
  }
  return { packages: [...packages.values()], others: [...others] }
}
