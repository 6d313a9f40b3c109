import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { examples } from './catalogue.ts'
import { type Flags, readFlags, USAGE, UsageError } from './flags.ts'
import { type Fetch, gallery } from './gallery.ts'
import { hashPassword, PasswordError } from './login/password.ts'
import { listen } from './server.ts'
import { readSettings, type Settings, SettingsError } from './settings.ts'
import { readTlsFiles, TlsFilesError } from './tls-files.ts'

/** Exit codes: 1 for what could not be done, 2 for what was asked wrongly. */
const [FAILED, MISUSED] = [1, 2]

// Each piece of an upload is a buffer of its own. Give the memory of the used ones back as soon as they are collected:
// the thread that would do it otherwise falls behind on a busy machine, and a large upload then needs twice the memory.
setFlagsFromString('--no-concurrent-array-buffer-sweeping')

try {
  const flags = readFlags(process.argv.slice(2))
  if (flags.help) console.log(USAGE)
  else if (flags.hashPassword) console.log(await hashPassword((await text(process.stdin)).replace(/\r?\n$/, '')))
  else await serve(flags)
} catch (error) {
  console.error(explain(error))
  process.exitCode = error instanceof UsageError || error instanceof SettingsError ? MISUSED : FAILED
}

async function serve({ example, host, port, cert, key }: Flags): Promise<void> {
  const { settings, demo } = readSettings(process.env)
  const tls = cert !== undefined && key !== undefined ? readTlsFiles(cert, key) : undefined
  const running = await listen(application(example, settings), { host, port, ...(tls && { tls }) })
  if (demo.length > 0) console.error(`warning: demo values are in use for ${demo.join(', ')}; anyone can look them up`)
  if (example === 'https' && !tls) console.error('warning: serving without TLS; give --cert FILE --key FILE')
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // A second signal means: now.
      if (stopping) running.cut()
      else void running.close()
      stopping = true
    })
  }
  // Said last: whoever reads it may send a signal at once.
  console.log(`listening on ${running.url}`)
}

function application(name: string | undefined, settings: Settings): Fetch {
  const example = name === undefined ? undefined : examples.get(name)
  return example ? example.make(settings).hono.fetch : gallery(settings)
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`
  if (error instanceof SettingsError || error instanceof TlsFilesError || error instanceof PasswordError) {
    return error.message
  }
  return error instanceof Error && 'code' in error
    ? error.message
    : String(error instanceof Error ? error.stack : error)
}
