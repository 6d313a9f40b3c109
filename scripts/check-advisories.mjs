// `npm run check:advisories -- ADVISORY_DB [CARGO_AUDIT]`: compares `plimsoll advisories check` with
// cargo-audit on the lock files of 20 programs of crates.io, by a checkout of RustSec's database. Not
// part of `npm test`: it needs both, and crates.io, from which Cargo fetches the programs.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

const PROGRAMS = `bat@0.15.4 ripgrep@12.0.0 fd-find@8.0.0 mdbook@0.4.4 cargo-edit@0.6.0 tokei@12.0.0
  hyperfine@1.9.0 diesel_cli@1.4.1 wasm-pack@0.9.1 sccache@0.2.13 starship@0.40.0 just@0.5.11
  xh@0.9.0 nu@0.30.0 alacritty@0.7.0 cargo-outdated@0.9.8 cargo-deny@0.6.6 lsd@0.17.0
  zellij@0.20.0 cargo-audit@0.12.0`.split(/\s+/)

const [database, audit = 'cargo-audit'] = process.argv.slice(2)
if (database === undefined) throw new Error('name the folder of a checkout of RustSec/advisory-db')
await prepare()
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-advisories-'))
try {
  const registry = join(folder, 'registry')
  plimsoll(['init', '--base-url', 'http://127.0.0.1:8080'])
  plimsoll(['advisories', 'update', database])
  let found = 0
  for (const program of PROGRAMS) {
    const lock = lockOf(program)
    const theirs = byAudit(lock)
    const start = performance.now()
    const ours = byPlimsoll(lock)
    const ms = Math.round(performance.now() - start)
    assert.deepEqual(ours, theirs, program)
    found += ours.length
    console.log(`${program}: the same ${ours.length}, in ${ms} ms`)
  }
  console.log(`${PROGRAMS.length} lock files, ${found} advisories: cargo-audit says the same`)

  function plimsoll(args) {
    const program = join(root, 'dist', 'program', 'cli.js')
    return output(process.execPath, [program, ...args, '--dir', registry], [0, 1])
  }

  function byPlimsoll(lock) {
    const { advisories } = JSON.parse(plimsoll(['advisories', 'check', lock, '--json']))
    return advisories
      .map(
        each =>
          `${each.informational ?? 'vulnerability'} ${each.id} ${each.package} ${each.version}`,
      )
      .sort()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Has Cargo fetch a program, and returns the path of its lock file. */
function lockOf(program) {
  const home = join(folder, 'cargo')
  output('cargo', ['info', '--quiet', program], [0], { CARGO_HOME: home })
  const sources = join(home, 'registry', 'src')
  const [source] = readdirSync(sources)
  const lock = join(sources, source, program.replace('@', '-'), 'Cargo.lock')
  assert.ok(existsSync(lock), lock)
  return lock
}

function byAudit(lock) {
  const args = ['audit', '--db', database, '--no-fetch', '--stale', '--json', '--file', lock]
  const { vulnerabilities, warnings } = JSON.parse(output(audit, args, [0, 1]))
  const said = (kind, list) =>
    list.map(
      ({ advisory, package: { name, version } }) => `${kind} ${advisory.id} ${name} ${version}`,
    )
  return [
    ...said('vulnerability', vulnerabilities.list),
    ...['unmaintained', 'unsound', 'notice'].flatMap(kind => said(kind, warnings[kind] ?? [])),
  ].sort()
}

function output(command, args, codes, env = {}) {
  const options = { encoding: 'utf8', maxBuffer: 2 ** 28, env: { ...process.env, ...env } }
  const { status, stdout, stderr, error } = spawnSync(command, args, options)
  if (!codes.includes(status)) throw new Error(`${command} ${args[0]}: ${error ?? stderr}`)
  return stdout
}
