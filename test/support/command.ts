import { type ChildProcess, spawn } from 'node:child_process'

/** The exit code and the output of a command. */
export interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly stdin?: string
  readonly timeoutMs?: number
}

/**
 * Runs a command to its end; fails with its output if it is silent for too long, or dies of a
 * signal.
 */
export async function run(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<Run> {
  const child = spawn(command, args, { cwd: options.cwd, env: options.env, stdio: 'pipe' })
  // The exit code and stderr tell the story when the command does not read its input.
  child.stdin.on('error', () => {})
  child.stdin.end(options.stdin ?? '')
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000)
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>(
      (resolve, reject) => {
        child.on('error', reject)
        child.on('close', (...ending) => resolve(ending))
      },
    )
    const output = {
      stdout: Buffer.concat(stdout).toString(),
      stderr: Buffer.concat(stderr).toString(),
    }
    if (code === null)
      throw new Error(
        `${command} ${args.join(' ')} ended by ${signal}\n${output.stdout}${output.stderr}`,
      )
    return { code, ...output }
  } finally {
    clearTimeout(timer)
  }
}

/** What a program has said so far, on both streams, and its exit code or signal at its end. */
export function watch(child: ChildProcess): {
  readonly said: () => string
  readonly ended: Promise<number | NodeJS.Signals | null>
} {
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? signal))
  })
  return { said: () => text, ended }
}

/** The run itself, when it ended with `code`; otherwise an error with its output. */
export function expectCode(command: string, ended: Run, code: number): Run {
  if (ended.code === code) return ended
  throw new Error(
    `\`${command}\` exited ${ended.code}, expected ${code}\n${ended.stdout}\n${ended.stderr}`,
  )
}
