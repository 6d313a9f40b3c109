// The package for Debian and Ubuntu, from the folder of a release for Linux.
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'

const SCRIPTS = ['postinst', 'prerm', 'postrm', 'conffiles']
const UNITS = ['plimsoll.service', 'plimsoll-backup.service', 'plimsoll-backup.timer']

/** Writes the package; `tree` is the folder for its files, and `at` the time of all of them. */
export function packDeb({ root, folder, tree, file, version, architecture, at }) {
  const made = (...path) => {
    mkdirSync(join(tree, ...path), { recursive: true })
    return join(tree, ...path)
  }
  const own = join(root, 'deploy', 'debian')
  cpSync(folder, made('opt', 'plimsoll'), { recursive: true, verbatimSymlinks: true })
  const packed = join(tree, 'opt', 'plimsoll', 'dist', 'packed')
  writeFileSync(packed, `Debian package for ${architecture}\n`)
  symlinkSync('/opt/plimsoll/plimsoll', join(made('usr', 'bin'), 'plimsoll'))
  cpSync(join(folder, 'LICENSES'), join(made('usr', 'share', 'doc', 'plimsoll'), 'copyright'))
  const units = made('usr', 'lib', 'systemd', 'system')
  for (const name of UNITS) cpSync(join(root, 'deploy', 'systemd', name), join(units, name))
  cpSync(join(own, 'environment'), join(made('etc', 'plimsoll'), 'environment'))
  const about = made('DEBIAN')
  for (const name of SCRIPTS) cpSync(join(own, name), join(about, name))
  const control = readFileSync(join(own, 'control'), 'utf8')
  const fields = { VERSION: version, ARCHITECTURE: architecture, SIZE: installedSize(tree) }
  writeFileSync(
    join(about, 'control'),
    control.replace(/@(\w+)@/g, (_, name) => fields[name]),
  )
  run('chmod', ['-R', 'u=rwX,go=rX', tree], root)
  const env = { SOURCE_DATE_EPOCH: String(at) }
  const compression = ['-Zxz', '-z3', '--threads-max=1'] // with more, the bytes depend on the machine
  run('dpkg-deb', ['--root-owner-group', ...compression, '--build', tree, file], root, { env })
}

/** In KiB, each file rounded up, by Debian's rule: what `du` says depends on the file system. */
function installedSize(tree) {
  const size = name => {
    const entry = lstatSync(join(tree, name))
    return entry.isFile() ? Math.ceil(entry.size / 1024) : 1
  }
  return readdirSync(tree, { recursive: true }).reduce((sum, name) => sum + size(name), 0)
}
