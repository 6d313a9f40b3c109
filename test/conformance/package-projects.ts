import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cargo } from '../support/cargo.ts'
import type { Project } from '../support/project.ts'
import { packagedFile } from '../support/project.ts'

/**
 * Packages projects in their order and hands the `.crate` files over in the fewest batches, but
 * before a project that may depend on earlier ones, because Cargo resolves packages.
 */
export async function packageProjects(
  cargo: Cargo,
  projects: readonly Project[],
  handOver: (files: readonly string[]) => Promise<void>,
): Promise<void> {
  let files: string[] = []
  for (const project of projects) {
    const mayDepend = readFileSync(join(project.folder, 'Cargo.toml'), 'utf8').includes(
      'dependencies',
    )
    if (mayDepend && files.length > 0) {
      await handOver(files)
      files = []
    }
    await cargo.ok(project.folder, 'package', '--no-verify', '--allow-dirty')
    files.push(packagedFile(project))
  }
  await handOver(files)
}
