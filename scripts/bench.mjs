// `npm run bench -- [--docs] [NAME…]`: runs the measurements of test/bench/, each as its own program. A
// NAME is a program's, or the beginning of several. `--docs` puts their output into
// docs/work/measurements.md, where it has a place for them.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { basename, join } from 'node:path'
import { environment as postgres } from './postgres.mjs'
import { prepare, root } from './prepare.mjs'
import { program as versitygw } from './versitygw.mjs'

await prepare()
const END = '.bench.js'
const programs = new Map(
  readdirSync(join(root, 'dist', 'test', 'bench'), { recursive: true })
    .filter(file => file.endsWith(END))
    .map(file => [basename(file, END), join(root, 'dist', 'test', 'bench', file)]),
)
const all = [...programs.keys()].sort()
const isForDocs = process.argv.includes('--docs')
const asked = process.argv.slice(2).filter(name => name !== '--docs')
const names = asked.flatMap(name => {
  const found = all.includes(name) ? [name] : all.filter(program => program.startsWith(name))
  if (found.length === 0) {
    console.error(`there is no measurement ${name}; there are ${all.join(', ')}`)
    process.exit(2)
  }
  return found
})

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
// The tables that go into the documentation do not change what is measured.
const isDirty = git('status', '--porcelain', '--', '.', ':!docs') !== ''
const commit = `${git('rev-parse', '--short', 'HEAD')}${isDirty ? '-dirty' : ''}`

for (const name of asked.length === 0 ? all : names) {
  const about = circumstances()
  console.log(`\n== ${name}: ${about}`)
  const program = programs.get(name)
  const result = spawnSync(process.execPath, ['--enable-source-maps', program], {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...process.env,
      ...postgres,
      ...(existsSync(versitygw) && { PLIMSOLL_TEST_S3_PROGRAM: versitygw }),
    },
    stdio: ['ignore', isForDocs ? 'pipe' : 'inherit', 'inherit'],
  })
  if (isForDocs) console.log(result.stdout)
  if (result.status !== 0) process.exit(result.status ?? 1)
  if (isForDocs) putIntoDocs(name, about, result.stdout)
}

/** Replaces the text between the marks of a measurement. */
function putIntoDocs(name, about, output) {
  const file = join(root, 'docs', 'work', 'measurements.md')
  const text = readFileSync(file, 'utf8')
  const [begin, end] = [`<!-- bench ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) return console.error(`${file} has no place for ${name}`)
  const rows = output.split('\n').filter(line => line.startsWith('|'))
  if (rows.length === 0) return console.error(`${name} has no table for ${file}`)
  // A second table continues the first.
  const [head = ''] = rows
  const table = rows.filter((row, at) => at < 2 || !(/^\| (what|-)/.test(row) || row === head))
  const tidy = table.map(row => row.replace(/ +\|/g, ' |').replace(/-{3,}/g, '---'))
  const place = `${begin}\n\n${about}:\n\n${tidy.join('\n')}\n\n`
  writeFileSync(file, `${text.slice(0, from)}${place}${text.slice(to)}`)
}

/** The circumstances of a figure, without which it means nothing. */
function circumstances() {
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`
  // A busy machine makes every wall-clock time worse, and processor times somewhat.
  const load = (loadavg()[0] ?? 0).toFixed(1)
  return `commit ${commit}, ${date} UTC, ${machine}, load before ${load}`
}
