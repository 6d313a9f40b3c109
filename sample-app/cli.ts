import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { examples } from './examples.ts'
import { gallery, single } from './gallery.ts'
import { hashPassword, PasswordError } from './login/password.ts'
import { listen, readTlsFiles, TlsFilesError } from './server.ts'
import { readSettings, SettingsError } from './settings.ts'

/** A command line that makes no sense; the message says what does. */
class UsageError extends Error {}

const NAMES = [...examples.keys()].join(', ')
const USAGE = `\
usage: npm run sample -- [--example NAME] [--port N] [--host H] [--cert FILE --key FILE]

  --example NAME   serve this example at the root; without it all of them under /examples/NAME/
  --port N         0 to 65535, 0 takes a free one (default 8000)
  --host H         the address to listen on (default 127.0.0.1)
  --cert, --key    PEM files; serves HTTPS
  --hash-password  reads a password from standard input and prints its hash for SAMPLE_USERS

examples: ${NAMES}

environment: SAMPLE_X_TOKEN, SAMPLE_X_KEY, SAMPLE_USERS (see sample-app/README.md)`

// Each piece of an upload is a buffer. The thread that frees them falls behind on a busy machine,
// and a large upload then needs twice the memory: free them as soon as they are collected.
setFlagsFromString('--no-concurrent-array-buffer-sweeping')

try {
  const flags = readFlags()
  if (flags.help) console.log(USAGE)
  else if (!flags['hash-password']) await serve(flags)
  else console.log(await hashPassword((await text(process.stdin)).replace(/\r?\n$/, '')))
} catch (error) {
  const isUsage = error instanceof UsageError
  const isPlain = [SettingsError, TlsFilesError, PasswordError].some(kind => error instanceof kind)
  const known = error instanceof Error && (isPlain || 'code' in error) ? error.message : error
  console.error(isUsage ? `${error.message}\n\n${USAGE}` : known)
  // 1 for what could not be done, 2 for what was asked wrongly.
  process.exitCode = isUsage || error instanceof SettingsError ? 2 : 1
}

/** @throws UsageError */
function readFlags() {
  const { port = '8000', host = '127.0.0.1', ...flags } = parsed()
  const example = examples.get(flags.example ?? '')
  if (flags.example !== undefined && !example) {
    const name = JSON.stringify(flags.example)
    throw new UsageError(`there is no example ${name}; choose one of: ${NAMES}`)
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) {
    throw new UsageError(`--port takes 0 to 65535, not ${port}`)
  }
  if (host === '') throw new UsageError('--host takes a name or an address')
  const { cert, key } = flags
  const tls = cert !== undefined && key !== undefined ? { cert, key } : undefined
  if (!tls && (cert ?? key) !== undefined) {
    throw new UsageError('--cert and --key go together: give both or none')
  }
  return { ...flags, example, host, port: Number(port), tls }
}

function parsed() {
  const [text, yes] = [{ type: 'string' }, { type: 'boolean' }] as const
  const texts = { example: text, port: text, host: text, cert: text, key: text }
  try {
    return parseArgs({ options: { ...texts, help: yes, 'hash-password': yes } }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

async function serve({ example, host, port, tls }: ReturnType<typeof readFlags>): Promise<void> {
  const served = example ? [example] : [...examples.values()]
  const settings = readSettings(process.env, served)
  const files = tls && readTlsFiles(tls.cert, tls.key)
  const { fetch } = example ? single(example) : gallery()
  const running = await listen(
    (request, env) => fetch(request, { ...settings, ...env }),
    host,
    port,
    files,
  )
  const demo = Object.keys(settings)
    .filter(name => process.env[name] === undefined)
    .join(', ')
  if (demo) console.error(`warning: demo values are in use for ${demo}; anyone can look them up`)
  if (example?.name === 'https' && !tls) {
    console.error('warning: serving without TLS; give --cert FILE --key FILE')
  }
  let stopped = Number.POSITIVE_INFINITY
  const stop = (signal?: string) => {
    if (stopped > performance.now()) void running.close()
    stopped = Math.min(stopped, performance.now())
    // A starter such as npm delivers one Ctrl-C twice; a second one means: now.
    if (signal === 'SIGINT' && performance.now() > stopped + 250) process.exit(130)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop)
  process.once('disconnect', stop)
  process.channel?.unref()
  // Said last: whoever reads it may send a signal at once.
  console.log(`listening on ${running.url}`)
}
