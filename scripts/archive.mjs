// Archives whose bytes depend on what is in them alone.
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { run } from './command.mjs'

/** Writes entries of a folder into a compressed tar archive; `at` is the time of all its files. */
export function packFolder(file, folder, names, at) {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  const args = ['--create', '--format=ustar', '--sort=name', `--mtime=@${at}`, ...owner]
  writeFileSync(file, gzipSync(run('tar', [...args, ...names], folder), { level: 9 }))
}
