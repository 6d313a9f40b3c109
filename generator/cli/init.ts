import { workAsOwner } from '../places/disk/caller.ts'
import { initRegistry } from '../registry/registry.ts'
import { showChanges } from './console/changes.ts'
import { command, type Task, withRegistry } from './console/command.ts'
import { flagsOf } from './console/io.ts'

export const registerInit = command('init', {
  about: 'create a registry folder: settings, database, empty public tree',
  takes: {
    '--base-url <url>': 'URL for users; default: the address the daemon listens on',
    '--api <url>': 'URL of the web API, or `none` for no publishing; default: the base URL',
  },
  json: 'an object: `dir`; `base_url`; `index`, the index URL for Cargo; `api`, URL of the web API or null',
  examples: {
    'plimsoll init': 'creates ./registry, to try it on this machine',
    'plimsoll init --dir srv --base-url https://crates.example.com':
      'creates a registry that others reach at this address',
  },
  async run(task: Task) {
    const { io, options, report } = task
    const { dir } = options
    workAsOwner(dir)
    await initRegistry(dir, { env: io.env }, flagsOf(options))
    await withRegistry(task, async opened => {
      await showChanges(opened, true)
      const { base, sparseIndex: index, api } = opened.registry.urls
      report({ dir, base_url: base, index, api }, [
        `created a registry in ${dir}; start it with \`plimsoll serve --dir ${dir}\``,
      ])
    })
  },
})
