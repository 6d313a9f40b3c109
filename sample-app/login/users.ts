import { verifyPassword } from './password.ts'

/** A user as others may see it. */
export interface User {
  readonly username: string
  readonly email: string
  readonly full_name: string
  readonly disabled: boolean
}

/** A user as it is stored. */
export interface StoredUser extends User {
  readonly hashed_password: string
}

/** Checked when there is no such user, so that an unknown name takes as long as a wrong password. */
const DECOY = 'scrypt$16384$8$1$AAAAAAAAAAAAAAAAAAAAAA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='

/** The users by name. A Map: a plain object would find `constructor`. */
export class UserStore {
  readonly #users: ReadonlyMap<string, StoredUser>

  constructor(users: readonly StoredUser[]) {
    this.#users = new Map(users.map(user => [user.username, user]))
  }

  /** The user of this exact name, without its password hash. */
  find(username: string): User | undefined {
    const stored = this.#users.get(username)
    if (!stored) return undefined
    const { hashed_password: _, ...user } = stored
    return user
  }

  /** The user with this name and password; undefined for an unknown name and a wrong password alike. */
  async authenticate(username: string, password: string): Promise<User | undefined> {
    const correct = await verifyPassword(password, this.#users.get(username)?.hashed_password ?? DECOY)
    return correct ? this.find(username) : undefined
  }
}
