/**
 * All pages of 10,000 invented crates with READMEs and some files, rendered again by the real
 * program. `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildCrate } from '../test/support/crate-builder.ts'
import { runToEnd } from './support/command.ts'
import { CLI } from './support/registry.ts'
import { printTable } from './support/table.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 10_000)
const ENV = { PLIMSOLL_GIT_INDEX: 'off', PLIMSOLL_REGISTRY_BASE_URL: 'http://127.0.0.1:8080' }

const WORDS =
  'parser stream index archive network async buffer codec config error future graph hash image json kernel lexer macro number object packet query render schema token unicode vector window'.split(
    ' ',
  )

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
try {
  const [home, crates] = [join(folder, 'registry'), join(folder, 'crates')]
  mkdirSync(crates)
  for (let number = 0; number < CRATES; number++)
    writeFileSync(join(crates, `${number}.crate`), crateOf(number))
  const plimsoll = (...args: string[]) => runToEnd([CLI, ...args, '--dir', home], ENV)
  await plimsoll('init')
  await plimsoll('add', crates)
  const { wall, processor, peak } = await plimsoll('build', '--all')
  const what = `all pages of ${CRATES.toLocaleString('en-US')} crates`
  printTable([
    { what, value: wall, unit: 's' },
    { what: `${what}: processor time`, value: processor, unit: 's' },
    { what: `${what}: most resident memory`, value: peak, unit: 'MiB' },
  ])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** A crate with a README of some 6 KiB and a few files, no two alike. */
function crateOf(number: number): Uint8Array {
  const word = (at: number) => WORDS[(number * 7 + at * at) % WORDS.length] ?? ''
  const name = `${word(1)}-${word(2)}-${number.toString(36)}`
  const paragraphs = Array.from({ length: 24 }, (_, at) => {
    const text = Array.from({ length: 20 }, (_, more) => word(at + more)).join(' ')
    if (at % 6 === 5)
      return `\`\`\`rust\npub fn ${word(at)}_${at}(x: u32) -> Result<u32, Error> {\n    Ok(x + ${at}) // ${text}\n}\n\`\`\``
    if (at % 6 === 2)
      return `| ${word(1)} | ${word(2)} |\n|---|---|\n| ${text} | [link](docs/${at}.md) |`
    return at % 6 === 0
      ? `## ${word(at)} ${word(at + 1)}`
      : `${text}, see \`${word(at)}\` and **${word(at + 3)}**.`
  })
  const code = Array.from(
    { length: 60 },
    (_, at) => `pub fn ${word(at)}_${at}() -> u32 { ${number + at} }`,
  )
  const files = {
    'README.md': `# ${name}\n\n${paragraphs.join('\n\n')}\n`,
    'src/lib.rs': code.join('\n'),
    'src/main.rs': 'fn main() {}\n',
  }
  const manifest = `readme = "README.md"\nkeywords = ["${word(3)}", "${word(4)}x"]\n`
  return buildCrate({ name, version: '1.0.0', manifest, files })
}
