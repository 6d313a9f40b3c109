import { once } from 'node:events'
import { request as askPlainly, type IncomingMessage } from 'node:http'
import { request as askByTls } from 'node:https'
import { refuse } from '../../core/error/error.ts'
import { parseListen } from '../../core/settings/kind.ts'
import { command, settingRows, type Task } from '../../generator/cli/console/command.ts'
import { sourcesOf } from '../../generator/cli/console/io.ts'
import { readSettings } from '../../generator/registry/folder.ts'

/** Less than what containers give a health check. */
const PATIENCE_MS = 4000
const LISTEN = '--listen <address>'

export const registerHealth = command('health', {
  about: 'ask the daemon on this machine whether it is well, as health checks do',
  takes: { [LISTEN]: settingRows[LISTEN] },
  examples: { 'plimsoll health': 'asks at `server.listen`' },
  json: 'an object: `address`, where the daemon listens',
  fails: 'no daemon answers there, or one that is not well',
  async run({ io, options, report }: Task) {
    const { server, tls } = readSettings(options.dir, sourcesOf(io, options)).settings
    const { listen: address } = server
    // A certificate names what users ask for, not this machine.
    const ask = tls.cert === null ? askPlainly : askByTls
    const asked = ask({
      ...connection(address),
      path: '/healthz',
      signal: AbortSignal.timeout(PATIENCE_MS),
      rejectUnauthorized: false,
    })
    const answered = once(asked, 'response')
    asked.end()
    const [answer]: IncomingMessage[] = await answered.catch(error =>
      refuse('daemon_silent', { address, reason: error.message }),
    )
    answer?.destroy()
    if (answer?.statusCode !== 200)
      refuse('daemon_silent', { address, reason: `status ${answer?.statusCode}` })
    report({ address }, ['ok'])
  },
})

/** How this machine connects to a daemon that listens there. */
function connection(listen: string): { host?: string; port?: number; socketPath?: string } {
  const address = parseListen(listen)
  if (!address) throw new Error(`settings let the address ${listen} through`)
  if ('socket' in address) return { socketPath: address.socket }
  const own: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  return { ...address, host: own[address.host] ?? address.host }
}
