import { Refusal } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { cargoConfig, cargoSetup } from '../../core/upstream/cargo-config.ts'
import type { Io } from '../../generator/cli/console/io.ts'
import { addUser, hasNoUsers, type User } from '../../generator/records/accounts/accounts.ts'
import { makeLink, passwordLink } from '../../generator/records/accounts/credentials.ts'
import { createToken } from '../../generator/records/accounts/tokens.ts'
import { type Change, operatorChange } from '../../generator/records/change.ts'
import { isPaused } from '../../generator/records/pause.ts'
import type { Registry } from '../../generator/registry/registry.ts'

/** Prints the first steps for users; without any user, adds `admin` and prints its token. */
export async function printWelcome(io: Io, { settings, urls, database }: Registry): Promise<void> {
  const { name } = settings.registry
  const config = cargoConfig(cargoSetup(settings, urls))
  io.out(`Paste this into .cargo/config.toml:\n\n${config}`)
  io.out(`The page of the registry is ${urls.base}/`)
  if (!(await hasNoUsers(database))) return
  const change = operatorChange(timestamp(io.now()))
  const admin = await addAdmin(database, change)
  if (!admin) return
  const order = { userId: admin.id, name: 'first start', expires: null, scopes: null, crates: null }
  const { token } = await createToken(database, order, change)
  const secret = await makeLink(database, admin, io.now(), change)
  io.out(`
To publish, run this and paste the token of \`admin\`, which is shown only once:

    cargo login --registry ${name}

    ${token}

To log in to the page, set a password for \`admin\` with this link (once, within 24 hours):

    ${passwordLink(urls, secret)}
`)
}

/** Adds `admin`; null in a pause, and if another daemon that begins now has, and prints the token. */
async function addAdmin(database: Registry['database'], change: Change): Promise<User | null> {
  try {
    return await addUser(database, { login: 'admin', admin: true }, change)
  } catch (error) {
    if (isPaused(error) || (error instanceof Refusal && error.has('login_taken'))) return null
    throw error
  }
}
