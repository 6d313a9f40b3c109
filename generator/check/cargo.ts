import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Subject } from './subject.ts'
import { short, untried, wrong } from './verdict.ts'

/** The longest that a Cargo may take: it waits for a minute for what it published. */
const TIMEOUT_MS = 120_000
/** The first Cargo that reads a sparse index. */
const SPARSE = 68

/** Returns the version of a Cargo, such as `1.95.0`; null if it cannot be run. */
export async function cargoVersion(path: string, env: Subject['env']) {
  const ended = await promisify(execFile)(path, ['--version'], { env: { ...env } }).catch(
    () => null,
  )
  return /^cargo (\d+\.\d+\.\d+)/.exec(ended?.stdout ?? '')?.[1] ?? null
}

/** The second number of a version of Rust. */
export function minor(version: string): number {
  return Number(version.split('.')[1])
}

/** A Cargo with a home of its own, and a crate in whose folder it runs. */
export class CargoHome {
  readonly #subject: Subject
  readonly #folder: string

  private constructor(subject: Subject, folder: string) {
    this.#subject = subject
    this.#folder = folder
  }

  /** Makes a home, and a crate `name` with a manifest that goes on with `toml`. */
  static async make(subject: Subject, name: string, toml: string): Promise<CargoHome> {
    const { target, cargo, scratch } = subject
    if (target.kind === 'folder') untried('Cargo reads no index in a folder')
    if (target.kind === 'http' && minor(cargo?.version ?? '') < SPARSE)
      untried('this Cargo reads no sparse index')
    const folder = await mkdtemp(join(scratch, 'cargo-'))
    const manifest = `[package]\nname = "${name}"\nversion = "1.0.0"\nedition = "2021"\ndescription = "A test by plimsoll check"\nlicense = "MIT"\n${toml}`
    const files = {
      'home/config.toml': `[registries.check]\nindex = "${target.name}"\n`,
      'crate/Cargo.toml': manifest,
      'crate/src/main.rs': 'fn main() {}',
    }
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    return new CargoHome(subject, folder)
  }

  /** Runs Cargo and returns what it says; wrong, with the error that it prints, if it fails. */
  async run(...args: readonly string[]): Promise<string> {
    const { code, said } = await this.end(args)
    return code === 0
      ? said
      : wrong(`cargo ${args[0]}: ${short(said.slice(said.indexOf('error')), 600)}`)
  }

  /** Runs Cargo and returns how it ended. */
  async end(args: readonly string[]): Promise<{ readonly code: unknown; readonly said: string }> {
    const { cargo, token, env } = this.#subject
    const plain = Object.entries(env).filter(
      ([name]) => !/^CARGO_(?!HTTP_CAINFO|NET_GIT_FETCH_WITH_CLI)/.test(name),
    )
    const own = {
      ...Object.fromEntries(plain),
      // Its rustc lies beside it.
      PATH: [dirname(cargo?.path ?? ''), env.PATH].join(delimiter),
      CARGO_HOME: join(this.#folder, 'home'),
      CARGO_TARGET_DIR: join(this.#folder, 'target'),
      CARGO_TERM_COLOR: 'never',
      CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS: 'cargo:token',
      ...(token !== null && { CARGO_REGISTRIES_CHECK_TOKEN: token }),
    }
    const options = { cwd: join(this.#folder, 'crate'), env: own, timeout: TIMEOUT_MS }
    const running = promisify(execFile)(cargo?.path ?? '', args, options)
    running.child.stdin?.end(`${token ?? ''}\n`)
    return running.then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
      error => ({ code: error.code, said: `${error.stdout}${error.stderr}` }),
    )
  }
}
