/** An instruction of a Dockerfile: `RUN npm ci` has the words `npm ci`. */
export interface Instruction {
  readonly name: string
  readonly words: string
}

/** A stage: its base, its name, and its instructions in their order. */
export interface Stage {
  readonly base: string
  readonly name: string | null
  readonly instructions: readonly Instruction[]
}

/** Instructions that the Dockerfile may have; others are an error, so that none goes unnoticed. */
const KNOWN = new Set(
  'ADD COPY WORKDIR LABEL ENV USER VOLUME HEALTHCHECK ENTRYPOINT CMD'.split(' '),
)

/**
 * Returns the stages of a Dockerfile, with the variables of `FROM` replaced: those of `ARG` before the
 * first stage, and `given`. Lines that end with `\` continue; comments are left out.
 */
export function parseDockerfile(text: string, given: Record<string, string> = {}): Stage[] {
  const args: Record<string, string> = { TARGETARCH: 'amd64', ...given }
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, '')
  const stages: { base: string; name: string | null; instructions: Instruction[] }[] = []
  for (const line of lines.split('\n').filter(Boolean)) {
    const [, name = '', words = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (name === 'ARG' && stages.length === 0) {
      const [, key = '', value = ''] = /^(\w+)=(\S+)$/.exec(words) ?? []
      args[key] ??= value
    } else if (name === 'FROM') {
      const [, from = '', alias = null] = /^(\S+)(?: AS (\S+))?$/.exec(words) ?? []
      const base = from.replace(/\$\{(\w+)\}/g, (_, key) => args[key] ?? '')
      stages.push({ base, name: alias, instructions: [] })
    } else {
      const stage = stages.at(-1)
      if (!stage || !KNOWN.has(name)) throw new Error(`no instruction that is known: ${line}`)
      stage.instructions.push({ name, words })
    }
  }
  return stages
}

/** Returns the words of the last instruction of that name in a stage. */
export function lastOf(stage: Stage, name: string): string {
  const last = stage.instructions.findLast(instruction => instruction.name === name)
  if (!last) throw new Error(`the stage has no ${name}`)
  return last.words
}

/** Returns the command of `ENTRYPOINT`, `CMD` or `HEALTHCHECK`, which has to be in exec form. */
export function execForm(words: string): string[] {
  const array = words.slice(words.indexOf('['))
  const parsed: unknown = JSON.parse(array)
  if (!Array.isArray(parsed)) throw new Error(`not the exec form: ${words}`)
  return parsed.map(String)
}

/** Returns the variables that a stage sets. */
export function variables(stage: Stage): Record<string, string> {
  return Object.fromEntries(
    stage.instructions
      .filter(({ name }) => name === 'ENV')
      .flatMap(({ words }) => [...words.matchAll(/(\w+)=(\S+)/g)])
      .map(([, name = '', value = '']) => [name, value]),
  )
}
