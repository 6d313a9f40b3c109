// `npm run release [-- FOLDER] [--sign-with COMMAND]`: makes the files of a release from the commit
// that is checked out, in dist/release or FOLDER: archives and Debian packages that bring their
// Node, npm package, image context, chart, source archive, SBOM and checksums. It builds an archive
// of the commit, so nothing else of this folder gets in; the same commit gives the same bytes, with
// the same Node, npm, GNU tar and dpkg. It reaches npm's registry alone.
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { packFolder } from './archive.mjs'
import { fail, run } from './command.mjs'
import { packDeb } from './deb.mjs'
import { currentNodes } from './node.mjs'
import { makePlatform } from './platform.mjs'
import { root } from './prepare.mjs'
import { materials } from './sbom.mjs'

/** What Debian calls the platforms that it has. */
const ARCHITECTURES = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }
/** What the image context has besides the archives for Linux. */
const CONTEXT = [
  'Dockerfile',
  '.dockerignore',
  'compose.yaml',
  'deploy/image',
  'deploy/nginx',
  'deploy/caddy',
]

const { values, positionals } = parseArgs({
  options: { 'sign-with': { type: 'string' } },
  allowPositionals: true,
})
const out = resolve(positionals[0] ?? join(root, 'dist', 'release'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const named = end => join(out, `plimsoll-${version}${end}`)
const changed = run('git', ['status', '--porcelain'], root).toString()
if (changed !== '')
  fail(`a release is made of a commit, and these files differ from it:\n${changed}`)
const at = Number(run('git', ['log', '-1', '--format=%ct'], root))
const nodes = currentNodes(root, at)
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const source = archive(root, `--prefix=plimsoll-${version}/`)
writeFileSync(named('-source.tar.gz'), gzipSync(source))
const charts = join(root, 'deploy', 'helm')
writeFileSync(named('-chart.tgz'), gzipSync(archive(charts, '--', 'plimsoll')))

const parent = mkdtempSync(join(tmpdir(), 'plimsoll-release-'))
try {
  run('tar', ['-xf', '-'], parent, { input: source })
  const folder = join(parent, `plimsoll-${version}`)
  run('npm', ['ci', '--no-audit', '--no-fund'], folder)
  run('npm', ['pack', '--loglevel=error', '--pack-destination', out], folder)
  const list = materials(folder, at)
  writeFileSync(named('.cdx.json'), `${JSON.stringify(list, null, 2)}\n`)
  const image = join(parent, 'image')
  run(process.execPath, [join('scripts', 'image.mjs'), image], folder)
  for (const [platform, node] of nodes) packPlatform(folder, image, list, platform, node)
  packContext(folder)
} finally {
  rmSync(parent, { recursive: true })
}
const sums = readdirSync(out)
  .sort()
  .map(name => `${sha256(readFileSync(join(out, name)))}  ${name}\n`)
const file = join(out, 'SHA256SUMS')
writeFileSync(file, sums.join(''))
process.stdout.write(sums.join(''))
if (values['sign-with'] !== undefined)
  process.stdout.write(run('sh', ['-c', `${values['sign-with']} "$1"`, 'sh', file], root))

/** Makes the archive of a platform, and its Debian package. */
function packPlatform(checkout, image, list, platform, node) {
  const scratch = join(parent, platform)
  const name = `plimsoll-${version}-${platform}`
  const folder = join(scratch, name)
  makePlatform({ root: checkout, image, folder, platform, node, list, scratch })
  packFolder(named(`-${platform}.tar.gz`), scratch, [name], at)
  const architecture = ARCHITECTURES[platform]
  if (architecture !== undefined) {
    const debian = { folder, tree: join(scratch, 'tree'), version, architecture, at }
    const file = join(out, `plimsoll_${version}_${architecture}.deb`)
    packDeb({ root: checkout, file, ...debian })
  }
  rmSync(scratch, { recursive: true })
}

/** What `docker build` and Compose need, with the archives where a checkout has them. */
function packContext(folder) {
  const release = join('dist', 'release')
  for (const platform of Object.keys(ARCHITECTURES)) {
    const archive = named(`-${platform}.tar.gz`)
    cpSync(archive, join(folder, release, `plimsoll-${version}-${platform}.tar.gz`))
  }
  packFolder(named('-image.tar.gz'), folder, [...CONTEXT, release], at)
}

/** The commit's files of a folder as a tar archive, with the time of the commit. */
function archive(folder, ...args) {
  return run('git', ['archive', '--format=tar', 'HEAD', ...args], folder)
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}
