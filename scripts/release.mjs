// `npm run release [-- FOLDER]`: makes the files of a release from the commit that is checked out, in
// dist/release or FOLDER: npm package, image context, chart, source archive, SBOM and checksums.
// It builds an archive of the commit, so nothing else of this folder gets in; the same commit gives
// the same bytes, with the same Node and npm. It reaches npm's registry alone.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from './prepare.mjs'

/** What `.dockerignore` leaves out of the image. */
const NOT_IN_IMAGE = [':(exclude)docs', ':(exclude)deploy', ':(exclude).ci', ':(exclude,glob)*.md']

const out = resolve(process.argv[2] ?? join(root, 'dist', 'release'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const named = end => join(out, `plimsoll-${version}${end}`)
const changed = run('git', ['status', '--porcelain'], root).toString()
if (changed !== '') {
  console.error(`error: a release is made of a commit, and these files differ from it:\n${changed}`)
  process.exit(1)
}
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const source = archive(root, `--prefix=plimsoll-${version}/`)
writeFileSync(named('-source.tar.gz'), gzipSync(source))
writeFileSync(named('-image.tar.gz'), gzipSync(archive(root, '--', '.', ...NOT_IN_IMAGE)))
const charts = join(root, 'deploy', 'helm')
writeFileSync(named('-chart.tgz'), gzipSync(archive(charts, '--', 'plimsoll')))

const parent = mkdtempSync(join(tmpdir(), 'plimsoll-release-'))
try {
  run('tar', ['-xf', '-'], parent, source)
  const folder = join(parent, `plimsoll-${version}`)
  run('npm', ['ci', '--no-audit', '--no-fund'], folder)
  run('npm', ['pack', '--pack-destination', out], folder)
  writeFileSync(named('.cdx.json'), `${JSON.stringify(materials(folder), null, 2)}\n`)
} finally {
  rmSync(parent, { recursive: true })
}
const sums = readdirSync(out)
  .sort()
  .map(name => `${sha256(readFileSync(join(out, name)))}  ${name}\n`)
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
process.stdout.write(sums.join(''))

/** The commit's files of a folder as a tar archive, with the time of the commit. */
function archive(folder, ...args) {
  return run('git', ['archive', '--format=tar', 'HEAD', ...args], folder)
}

/** The packages that run in users' hands; npm would number the list at random and date it today. */
function materials(folder) {
  const args = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--workspaces=false']
  const list = JSON.parse(run('npm', args, folder).toString())
  const at = run('git', ['log', '-1', '--format=%cI'], root).toString().trim()
  list.metadata.timestamp = new Date(at).toISOString()
  delete list.serialNumber
  return list
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Runs a program to its end and returns what it printed; ends with its error if it fails. */
function run(command, args, cwd, input) {
  const stdio = [input ? 'pipe' : 'ignore', 'pipe', 'inherit']
  const ended = spawnSync(command, args, { cwd, input, stdio, maxBuffer: 2 ** 30 })
  if (ended.status === 0) return ended.stdout
  console.error(
    `error: ${command} ${args.join(' ')} failed: ${ended.error?.message ?? ended.status}`,
  )
  process.exit(1)
}
