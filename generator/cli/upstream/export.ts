import { warning } from '../../../core/error/error.ts'
import { indexUrlKey } from '../../../core/index-url.ts'
import { counted } from '../../../core/quantity.ts'
import { unpackedLimit } from '../../../core/tarball/recover.ts'
import {
  exportConfig,
  exportCrates,
  LAYOUTS,
  type Layout,
  readLockFiles,
  recordedCrates,
} from '../../export/export.ts'
import { asCaller } from '../../places/disk/caller.ts'
import { archiveLimits } from '../../sandbox/sandbox.ts'
import { openUpstreams } from '../../upstream/open.ts'
import { type RegistryTask, registryCommand } from '../console/command.ts'
import { printIssues } from '../console/io.ts'

export const registerExport = registryCommand('export', {
  about: 'write the crates of lock files into a folder from which Cargo builds offline',
  takes: {
    '<folder>': 'the folder to write: new, or empty',
    '--lock <file...>': { about: 'the Cargo.lock files', isRequired: true },
    '--as <layout>': {
      about: '.crate files with an index, or unpacked as by `cargo vendor`',
      choices: LAYOUTS,
      isRequired: true,
    },
  },
  examples: {
    'plimsoll export --lock Cargo.lock --as local-registry crates-offline':
      'writes .crate files and their index',
    'plimsoll export --lock Cargo.lock --as vendor vendored': 'writes unpacked crates',
  },
  json: 'an object: `folder`; `as`; `crates`, an array with `name`, `version`, `source` (the index URL) and `checksum` of each crate; `others`, the names of packages from elsewhere, such as git; `config`, the tables for the configuration of Cargo',
  fails:
    'a crate is missing or its bytes are wrong, or the folder has something in it; nothing was written',
  reads: true,
  async run(task: RegistryTask<{ lock: string[]; as: Layout }>, dir: string) {
    const { io, registry, options, progress, report } = task
    const { packages, others } = await readLockFiles(options.lock)
    const own = new Set([...registry.urls.own].map(indexUrlKey))
    const recorded = recordedCrates(registry)
    const upstreams = await openUpstreams(registry, { env: io.env })
    const order = {
      packages,
      layout: options.as,
      dir,
      cratesOf: (source: string) =>
        own.has(indexUrlKey(source)) ? recorded : upstreams.ofSource(source),
      limits: (size: number) => ({
        ...archiveLimits(registry.settings, size),
        unpackedBytes: unpackedLimit(size),
        duplicateManifest: true,
      }),
    }
    const exported = asCaller(() => exportCrates(order, progress))
    const count = await exported.finally(() => upstreams.close())
    const warnings = others.map(name => warning('export_other', { name }))
    printIssues(io, warnings)
    const config = exportConfig(order)
    const result = { folder: dir, as: options.as, crates: packages, others, config }
    report(result, [`# exported ${counted(count, 'crate')} to ${dir}`, config.trimEnd()])
  },
})
