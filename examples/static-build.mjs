// A static build in CI, by commands. It packs the crates of a workspace, renders them as a tree for
// any web host, and checks the tree as Cargo would see it:
//
//   node static-build.mjs WORKSPACE CRATES OUT https://crates.example.com
//
// CRATES is a folder with every `.crate` file that was ever published, which CI keeps in a
// repository or a bucket. A version that is there is not packed again, because a published version
// never changes. Upload OUT afterwards (docs/run/hosting.md), `index/` last. It needs Cargo and
// `plimsoll` on the search path. It writes what the check found to check.xml, as JUnit.
import { spawnSync } from 'node:child_process'
import { constants, copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const [workspace = '.', crates = 'crates', out = 'public', url] = process.argv.slice(2)
if (!url) throw new Error('usage: node static-build.mjs WORKSPACE CRATES OUT URL')

const manifest = ['--manifest-path', join(workspace, 'Cargo.toml')]
const described = run('cargo', ['metadata', '--no-deps', '--format-version', '1', ...manifest])
const { packages, target_directory: target } = JSON.parse(described)

mkdirSync(crates, { recursive: true })
// `publish = false` is an empty list here.
const fresh = packages.filter(
  ({ name, version, publish }) =>
    publish?.length !== 0 && !existsSync(join(crates, `${name}-${version}.crate`)),
)
if (fresh.length > 0) {
  const which = fresh.flatMap(({ name, version }) => ['--package', `${name}@${version}`])
  // CI has tested the sources before. To make a lock file, Cargo would look for other members in
  // the registry, which does not have their new versions yet.
  run('cargo', ['package', '--no-verify', '--exclude-lockfile', ...which, ...manifest])
}
for (const { name, version } of fresh) {
  const file = `${name}-${version}.crate`
  copyFileSync(join(target, 'package', file), join(crates, file), constants.COPYFILE_EXCL)
  console.log(`packed ${name} ${version}`)
}
process.stdout.write(run('plimsoll', ['build', '--from', crates, '--out', out, '--base-url', url]))
process.stdout.write(run('plimsoll', ['check', out, '--junit', 'check.xml']))

/** Runs a command and returns its standard output; ends with its exit code when it fails. */
function run(command, args) {
  const { status, stdout, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error) throw error
  if (status === 0) return stdout
  process.stdout.write(stdout)
  console.error(`${command} ${args.join(' ')} ended with ${status}`)
  process.exit(status ?? 1)
}
