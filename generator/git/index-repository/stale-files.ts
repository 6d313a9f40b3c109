import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isTemporary, readFolder, readText, statOf } from '../../store/durable-file.ts'
import { headRef } from './bare-repository.ts'

/** How long a ref may be locked: git takes milliseconds, an older lock is a dead process's. */
const LOCK_MS = 5_000
/** The same for what is held during packing. */
const WORK_MS = 600_000

/** Waits for the locks of HEAD and its branch, and removes those of killed processes. */
export async function removeStaleLocks(path: string, now: () => number = Date.now): Promise<void> {
  const locks = ['HEAD', 'packed-refs', await headRef(path)].map(name => join(path, `${name}.lock`))
  for (const lock of locks) {
    const started = now()
    const first = await modified(lock)
    for (let since = first; since !== null; since = await modified(lock)) {
      // The second half is for a clock that was set back: the lock looks young for ever.
      if (now() - since >= LOCK_MS || (since === first && now() - started >= LOCK_MS))
        await rm(lock, { force: true })
      else await setTimeout(50)
    }
  }
}

/** Removes files of killed processes: temporary packs, locks of the packer, fast-import's marks. */
export async function removeStaleFiles(path: string, now: () => number = Date.now): Promise<void> {
  for (const [folder, names] of [
    ['', /^fast_import_crash_|^(?:config|shallow)\.lock$|^gc\.pid/],
    ['objects', /^tmp_object_git2_/],
    ['objects/info', /\.lock$|^tmp_/],
    ['objects/pack', /^\.?tmp[-_]|\.lock$/],
  ] as const) {
    for (const { name } of await readFolder(join(path, folder))) {
      const suspect = join(path, folder, name)
      if (!(names.test(name) || isTemporary(name) || (await isReleased(suspect)))) continue
      const since = await modified(suspect)
      if (since !== null && now() - since >= WORK_MS) await rm(suspect, { force: true })
    }
  }
}

/** A pack that fast-import was about to release keeps its mark, and would never be packed again. */
async function isReleased(path: string): Promise<boolean> {
  return path.endsWith('.keep') && !!(await readText(path))?.startsWith('fast-import')
}

async function modified(path: string): Promise<number | null> {
  return (await statOf(path))?.mtimeMs ?? null
}
