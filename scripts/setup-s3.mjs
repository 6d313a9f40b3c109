// `npm run setup:s3`: compiles versitygw, an S3 server over a folder, for the tests that run with
// PLIMSOLL_TEST_S3=versitygw. Go fetches its modules as it is set up on this machine. Exit code 2:
// there is no Go for it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { program, VERSION } from './versitygw.mjs'

/** The oldest Go 1.x that compiles it. */
const GO_MINOR = 25

if (existsSync(program)) {
  console.log(`versitygw ${VERSION} is compiled already: ${program}`)
} else {
  const go = ['go', '/usr/local/go/bin/go'].find(command => minorOf(command) >= GO_MINOR)
  if (go !== undefined) process.exit(compile(go))
  console.error(`versitygw ${VERSION} cannot be compiled here: it needs Go 1.${GO_MINOR} or newer.`)
  console.error("Debian 12's `golang` is older. The tests then use the S3 that is part of them.")
  process.exit(2)
}

/** The minor version of a Go 1.x; -1 when there is none. */
function minorOf(command) {
  const { stdout } = spawnSync(command, ['version'], { encoding: 'utf8' })
  return Number(/ go1\.(\d+)/.exec(stdout ?? '')?.[1] ?? -1)
}

/** The program gets its name when it is complete; returns the exit code. */
function compile(go) {
  console.log(`compiling versitygw ${VERSION}; this takes some minutes …`)
  mkdirSync(dirname(program), { recursive: true })
  const stage = mkdtempSync(`${program}.new-`)
  try {
    const source = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`
    const { status } = spawnSync(go, ['install', '-trimpath', '-ldflags=-s -w', source], {
      stdio: 'inherit',
      env: { ...process.env, CGO_ENABLED: '0', GOBIN: stage },
    })
    if (status === 0) {
      renameSync(join(stage, 'versitygw'), program)
      console.log(`versitygw ${VERSION} is compiled: ${program}`)
      return 0
    }
    console.error(`versitygw ${VERSION} did not compile; the reason is above.`)
    return 1
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}
