import { fact } from '../subject.ts'
import { cargo, Table } from '../table.ts'
import { untried } from '../verdict.ts'

/** The refs of a git index, as Cargo's own git asks for them: protocol 0, over HTTP. */
const refs = fact(async ({ client, target, token }) => {
  if (!/^https?:/.test(target.name)) untried('the repository is not read over HTTP')
  const basic = Buffer.from(`x:${token}`).toString('base64')
  const headers: Record<string, string> = token === null ? {} : { authorization: `Basic ${basic}` }
  return client.ask(`${target.name}/info/refs?service=git-upload-pack`, { headers })
})

/** A git index over HTTP. */
export const gitRows = [
  new Table(cargo('src/cargo/sources/git/utils.rs'), 'breaks builds', 'git')
    .row('git-smart', 'the repository is served by git, not as files: Cargo cannot read those')
    .that(refs, answer => /git-upload-pack-advertisement/.test(answer.header('content-type')))
    .row('git-head', 'the repository has a HEAD, which Cargo reads whatever its branch is called')
    .that(refs, ({ text }) => /[0-9a-f]{40} HEAD\0/.test(text)),
]
