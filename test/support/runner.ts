import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Run, run } from './command.ts'
import { hostEnvironment } from './plimsoll.ts'

/** A step of a workflow or of a composite action. */
interface Step {
  readonly uses?: string
  readonly run?: string
  readonly if?: string
  readonly with?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly shell?: string
  readonly 'working-directory'?: string
}

type Contexts = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Does what an action of somebody else's would do. */
type StandIn = (given: Readonly<Record<string, string>>) => Promise<unknown>

/**
 * A stand-in of the runners of GitHub and Forgejo: it runs steps one by one, with the files by which
 * they hand on paths and variables. Actions of others are played by `actions`, by name without commit.
 */
export class Runner {
  readonly workspace: string
  /** What the steps printed, as people see it. */
  log = ''
  readonly #folder: string
  readonly #contexts: Contexts
  readonly #actions: Readonly<Record<string, StandIn>>
  readonly #env: NodeJS.ProcessEnv
  readonly #masks: string[] = []

  constructor(folder: string, contexts: Contexts, actions: Readonly<Record<string, StandIn>>) {
    this.#folder = folder
    this.workspace = join(folder, 'workspace')
    const temp = join(folder, 'temp')
    for (const made of [this.workspace, temp]) mkdirSync(made)
    this.#contexts = contexts
    this.#actions = actions
    const github = Object.entries(contexts.github ?? {})
    const names = github.map(([name, value]) => [`GITHUB_${name.toUpperCase()}`, value])
    this.#env = {
      ...hostEnvironment(),
      ...Object.fromEntries(names),
      HOME: folder,
      RUNNER_TEMP: temp,
    }
  }

  /** What steps from now on find in their environment. */
  get env(): NodeJS.ProcessEnv {
    return { ...this.#env }
  }

  /** Runs steps up to the first that fails; returns the end of the last one. */
  async play(steps: readonly Step[], contexts: Contexts = this.#contexts): Promise<Run> {
    let ended: Run = { code: 0, stdout: '', stderr: '' }
    for (const step of steps) {
      if (step.if !== undefined && !isTrue(step.if, contexts)) continue
      ended = await this.#one(step, contexts)
      if (ended.code !== 0) break
    }
    return ended
  }

  async #one(step: Step, contexts: Contexts): Promise<Run> {
    const given = filled(step.with ?? {}, contexts)
    if (step.uses?.startsWith('./')) return this.#composite(join(this.workspace, step.uses), given)
    if (step.uses !== undefined) {
      const played = this.#actions[step.uses.replace(/@.*/, '')]
      if (!played) throw new Error(`nothing plays ${step.uses}`)
      await played(given)
      return { code: 0, stdout: '', stderr: '' }
    }
    const files = ['GITHUB_ENV', 'GITHUB_PATH'].map(
      name => [name, join(this.#folder, name)] as const,
    )
    for (const [, file] of files) writeFileSync(file, '')
    const script = join(this.#folder, 'step.sh')
    writeFileSync(script, step.run ?? '')
    const strict = step.shell === 'bash' ? ['--noprofile', '--norc', '-eo', 'pipefail'] : ['-e']
    const ended = await run('bash', [...strict, script], {
      cwd: join(this.workspace, step['working-directory'] ?? ''),
      env: { ...this.#env, ...Object.fromEntries(files), ...filled(step.env ?? {}, contexts) },
    })
    this.#note(ended)
    return ended
  }

  async #composite(folder: string, given: Readonly<Record<string, string>>): Promise<Run> {
    const { inputs, runs } = parse(readFileSync(join(folder, 'action.yml'), 'utf8'))
    if (runs.using !== 'composite') throw new Error(`${folder} is no composite action`)
    const defaults = Object.entries<{ default?: string; required?: boolean }>(inputs).map(
      ([name, input]) => {
        if (input.required && !given[name]) throw new Error(`${folder} needs ${name}`)
        return [name, input.default ?? '']
      },
    )
    const unknown = Object.keys(given).filter(name => !Object.hasOwn(inputs, name))
    if (unknown.length > 0) throw new Error(`${folder} has no input ${unknown.join()}`)
    return this.play(runs.steps, { inputs: { ...Object.fromEntries(defaults), ...given } })
  }

  /** Takes over what a step has printed, and written into the files that it was given. */
  #note({ stdout, stderr }: Run): void {
    for (const [, secret = ''] of stdout.matchAll(/^::add-mask::(.+)$/gm)) this.#masks.push(secret)
    const hidden = `${stdout}${stderr}`.replace(/^::add-mask::.*\n/gm, '')
    this.log += this.#masks.reduce((text, secret) => text.replaceAll(secret, '***'), hidden)
    const lines = (name: string) => {
      const file = join(this.#folder, name)
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
    }
    for (const path of lines('GITHUB_PATH')) this.#env.PATH = `${path}:${this.#env.PATH}`
    for (const line of lines('GITHUB_ENV')) {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
      this.#env[name] = value
    }
  }
}

/** Replaces `${{ CONTEXT.NAME }}` in values; a name that is not there is empty, as it is for runners. */
function filled(values: Readonly<Record<string, string>>, contexts: Contexts) {
  const texts = Object.entries(values).map(([key, value]) => [
    key,
    String(value).replace(/\$\{\{ *(\w+)\.(\w+) *\}\}/g, (_, context, name) => {
      return contexts[context]?.[name] ?? ''
    }),
  ])
  return Object.fromEntries(texts) as Record<string, string>
}

/** The one kind of condition that our steps have: `CONTEXT.NAME != ''`. */
function isTrue(condition: string, contexts: Contexts): boolean {
  const [, context = '', name = ''] = /^(\w+)\.(\w+) != ''$/.exec(condition) ?? []
  if (context === '') throw new Error(`a condition that this runner does not know: ${condition}`)
  return (contexts[context]?.[name] ?? '') !== ''
}
