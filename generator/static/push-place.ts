import { refuse } from '../../core/error/error.ts'
import { isOfHost } from '../../core/paths/own.ts'
import { configPath, PUSH_FOLDER } from '../../core/paths/tree.ts'
import { FolderPlace } from '../places/folder-place.ts'
import { FileMutex } from '../places/locks/lock.ts'
import { makePrivate } from '../private-files.ts'

/** A folder with a public tree that many push to at once. */
export interface PushFolder {
  readonly place: FolderPlace
  close(): Promise<void>
}

/**
 * Opens a folder for a push. Changes are made under a lock that the operating system frees when its
 * holder dies. Refuses a folder that contains something else than a public tree.
 */
export async function openPushFolder(folder: string): Promise<PushFolder> {
  const reader = new FolderPlace(folder, { sync: 'never' })
  for await (const path of reader.paths()) {
    if (isOfHost(path)) continue
    // In this order: another first push makes the `config.json` before anything else.
    if (!(await reader.head(configPath))) refuse('folder_in_use', { out: folder })
    break
  }
  await makePrivate(reader.local(PUSH_FOLDER))
  const mutex = new FileMutex(reader.local(`${PUSH_FOLDER}/lock`))
  return { place: new FolderPlace(folder, { sync: 'each', mutex }), close: () => mutex.close() }
}
