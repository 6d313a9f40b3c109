// A process that commits to an index repository until it is killed: `index-writer.js PATH ENGINE`.
// It prints the id of each acknowledged commit.
import { openIndexRepository } from '../../generator/git/index-repository/repository.ts'

const [path = '', engine] = process.argv.slice(2)
const repository = await openIndexRepository({
  path,
  engine: engine === 'nodegit' ? 'nodegit' : 'git',
})
for (let i = 0; ; i++) {
  const bytes = Buffer.from(`${process.pid} ${i}\n`)
  const changes = ['ca/rg/cargo', `ab/cd/abcd${i}`].map(name => ({ path: name, bytes }))
  const id = await repository.commit(changes, { message: `Commit ${i}\n`, time: new Date() })
  process.stdout.write(`${id}\n`)
  if (i % 20 === 19) await repository.maintain()
}
