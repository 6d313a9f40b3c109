import { after, timestamp } from '../../../core/timestamp.ts'
import { beginPause, endPause } from '../../records/pause.ts'
import { type RegistryTask, registryCommand } from '../console/command.ts'

export const registerPause = registryCommand('pause', {
  about: 'let nothing be changed for a while, as for maintenance; readers go on',
  takes: {
    '--for <duration>': { about: 'when it ends by itself, such as `90s` or `2h`', default: '10m' },
  },
  examples: { 'plimsoll pause --for 30m': 'publishers are asked to come back later' },
  json: 'an object: `until`, when it ends by itself',
  fails: 'the registry is not paused, or a move is under way',
  async run({ io, registry, options, report }: RegistryTask<{ readonly for: string }>) {
    const now = io.now()
    const end = after(now, options.for)
    const seconds = (end.getTime() - now.getTime()) / 1000
    await registry.database.transaction(tx => beginPause(tx, seconds))
    const until = timestamp(end)
    report({ until }, [`the registry is paused until ${until}; \`plimsoll resume\` ends it`])
  },
})

export const registerResume = registryCommand('resume', {
  about: 'end a pause; a move that is copying the records is given up',
  examples: { 'plimsoll resume': 'publishers may go on' },
  json: 'an object: `resumed`, false if there was no pause',
  fails: 'the pause goes on',
  async run({ registry, report }: RegistryTask) {
    const resumed = await endPause(registry.database)
    report({ resumed }, [
      resumed ? 'the registry takes changes again' : 'the registry was not paused',
    ])
  },
})
