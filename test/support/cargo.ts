import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { Run } from './command.ts'
import { expectCode, run } from './command.ts'

/** The client under test. */
export const cargoPath = process.env.PLIMSOLL_CARGO ?? 'cargo'
const program = cargoPath

/** Cargo itself waits for a minute until a release is in the index. */
const TIMEOUT_MS = 150_000

/** The client under test: `PLIMSOLL_CARGO`, or the `cargo` of the search path. */
export const cargoVersion = findCargo()

function findCargo(): { readonly text: string; readonly minor: number } {
  const version = spawnSync(program, ['--version'], { env: environment(), encoding: 'utf8' })
  const minor = /^cargo 1\.(\d+)\./.exec(version.stdout ?? '')?.[1]
  if (version.status !== 0 || minor === undefined) {
    throw new Error(
      `These tests need cargo, and \`${program} --version\` does not work (${version.error?.message ?? version.stderr}). ` +
        'Install Rust, or name another cargo in PLIMSOLL_CARGO.',
    )
  }
  return { text: version.stdout.trim(), minor: Number(minor) }
}

/** Whether the client is of Rust 1.`minor` or newer: tests expect the behavior of each client. */
export function cargoIsAtLeast(minor: number): boolean {
  return cargoVersion.minor >= minor
}

export interface CargoSettings {
  /** Name in the configuration → index URL. */
  readonly registries: Readonly<Record<string, string>>
  /** Index URL that takes the place of crates.io, so that nothing leaves this computer, or null. */
  readonly cratesIo: string | null
  /** Name in the configuration → token. */
  readonly tokens?: Readonly<Record<string, string>>
  /** More lines for `config.toml`. */
  readonly config?: string
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

/** A Cargo with empty caches and its own configuration; it sees nothing of the host's. */
export class Cargo {
  readonly home: string
  readonly #env: NodeJS.ProcessEnv
  readonly #timeoutMs: number

  constructor(home: string, settings: CargoSettings) {
    this.home = home
    this.#timeoutMs = settings.timeoutMs ?? TIMEOUT_MS
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'config.toml'), configuration(settings))
    this.#env = { ...environment(), HOME: home, CARGO_HOME: home, ...settings.env }
    for (const [name, token] of Object.entries(settings.tokens ?? {})) {
      this.#env[`CARGO_REGISTRIES_${name.toUpperCase()}_TOKEN`] = token
    }
  }

  /** Runs it in `folder`, with any outcome. */
  run(folder: string, ...args: readonly string[]): Promise<Run> {
    return run(program, args, { cwd: folder, env: this.#env, timeoutMs: this.#timeoutMs })
  }

  /** Gives it a token, which it keeps in its home. */
  async logIn(folder: string, registry: string, token: string): Promise<void> {
    const args = ['login', '--registry', registry]
    const ended = await run(program, args, { cwd: folder, env: this.#env, stdin: `${token}\n` })
    expectCode(`cargo ${args.join(' ')}`, ended, 0)
  }

  /** Runs it in `folder`; it must succeed. */
  async ok(folder: string, ...args: readonly string[]): Promise<Run> {
    return expectCode(`cargo ${args.join(' ')}`, await this.run(folder, ...args), 0)
  }

  /** Runs it in `folder`; it must end with 101, Cargo's code of an error. */
  async fails(folder: string, ...args: readonly string[]): Promise<Run> {
    return expectCode(`cargo ${args.join(' ')}`, await this.run(folder, ...args), 101)
  }
}

/**
 * The host's environment without variables for Cargo, Rust or git; a toolchain manager must still
 * find its toolchains.
 */
function environment(): NodeJS.ProcessEnv {
  const host = Object.entries(process.env).filter(
    ([name]) => !/^(CARGO|RUST|GIT_|PLIMSOLL|HTTPS?_|ALL_PROXY|NO_PROXY)/i.test(name),
  )
  // The compiler that came with this cargo lies beside it.
  const beside = program.includes('/') ? [dirname(program)] : []
  return {
    ...Object.fromEntries(host),
    PATH: [...beside, process.env.PATH ?? ''].join(delimiter),
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup'),
    ...(process.env.RUSTUP_TOOLCHAIN ? { RUSTUP_TOOLCHAIN: process.env.RUSTUP_TOOLCHAIN } : {}),
    RUSTUP_AUTO_INSTALL: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    CARGO_TERM_COLOR: 'never',
    CARGO_INCREMENTAL: '0',
    LC_ALL: 'C',
  }
}

function configuration({ registries, cratesIo, config = '' }: CargoSettings): string {
  const tables = Object.entries(registries).map(
    ([name, index]) => `[registries.${name}]\nindex = "${index}"\n`,
  )
  const standIn = `[source.crates-io]
replace-with = "stand-in"

[source.stand-in]
registry = "${cratesIo}"
`
  return `${tables.join('\n')}
${cratesIo === null ? '' : standIn}
[net]
retry = 0

${config}`
}
