/**
 * Preloaded into the real program (`node --import`): counts each step that changes something on
 * disk or in the database, and kills the process with SIGKILL before step number `SABOTAGE_AT`, or
 * before the first step whose name begins so.
 * Steps count while the file `SABOTAGE_WHEN` exists; each is written to the end of the file
 * `SABOTAGE_LOG`.
 */
import fs, { appendFileSync, existsSync, promises, readFileSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import Libsql from 'libsql'
import { Client } from 'pg'

const { SABOTAGE_AT = '', SABOTAGE_WHEN = '', SABOTAGE_LOG = '' } = process.env
const fatal = Number(SABOTAGE_AT)

let isNoting = false

function step(name: string): void {
  if (isNoting || !existsSync(SABOTAGE_WHEN)) return
  // The disk's thread counts, too: it has loaded this file as well.
  const count = existsSync(SABOTAGE_LOG) ? readFileSync(SABOTAGE_LOG, 'utf8').split('\n').length : 1
  // Appending is a step of its own otherwise.
  isNoting = true
  appendFileSync(SABOTAGE_LOG, `${count} ${name}\n`)
  isNoting = false
  const isNamed = Number.isNaN(fatal) && name.startsWith(SABOTAGE_AT)
  if (count !== fatal && !isNamed) return
  process.kill(process.pid, 'SIGKILL')
  for (;;);
}

type Method = (...args: never[]) => unknown

/** Puts a step before a method of `holder`. */
function wrap(
  holder: object,
  method: string,
  nameOf: (args: readonly unknown[]) => string | null,
): void {
  const target = holder as Record<string, Method>
  const original = target[method] as (...args: unknown[]) => unknown
  target[method] = function (this: unknown, ...args: unknown[]) {
    const name = nameOf(args)
    if (name !== null) step(name)
    return original.apply(this, args)
  }
}

const named = (method: string) => (args: readonly unknown[]) =>
  `${method} ${basename(String(args[args.length === 1 ? 0 : 1]))}`

/** A function of `node:fs` that changes files: with a promise, or at once. */
function wrapBoth(method: string, nameOf: (args: readonly unknown[]) => string | null): void {
  wrap(promises, method, nameOf)
  wrap(fs, `${method}Sync`, nameOf)
}

for (const method of ['rename', 'link']) wrapBoth(method, named(method))
for (const method of ['mkdir', 'rm', 'rmdir', 'unlink']) {
  wrapBoth(method, args =>
    existsSync(String(args[0])) === (method === 'mkdir')
      ? null
      : `${method} ${basename(String(args[0]))}`,
  )
}
const created = (args: readonly unknown[], flags: unknown) =>
  /[wa+]/.test(String(flags ?? 'r')) ? `create ${basename(String(args[0]))}` : null
wrapBoth('open', args => created(args, args[1]))
wrap(fs, 'writeFileSync', ([file, , options]) =>
  typeof file === 'number' ? 'writeFile' : created([file], (options as { flag?: string })?.flag),
)
for (const method of ['writeFile', 'fsync']) wrap(fs, method, () => method.replace(/^f/, ''))

const handle: FileHandle = await openFile(new URL(import.meta.url))
for (const method of ['write', 'writeFile', 'appendFile', 'sync', 'datasync', 'truncate']) {
  wrap(Object.getPrototypeOf(handle) as object, method, () => method)
}
await handle.close()
syncBuiltinESMExports()

const CHANGING = /^\s*(begin|commit|rollback|insert|update|delete)\b\s*(?:into|from)?\s*"?(\w*)/i
const sqlName = (sql: string): string | null => {
  const match = CHANGING.exec(sql)
  return match ? `${match[1]} ${match[2]}`.toLowerCase().trim() : null
}
wrap(Libsql.prototype, 'exec', ([sql]) => sqlName(String(sql)))
const prepare = Libsql.prototype.prepare
Libsql.prototype.prepare = function (this: Libsql.Database, sql: string) {
  const statement = prepare.call(this, sql)
  const name = sqlName(sql)
  if (name !== null) for (const method of ['run', 'all']) wrap(statement, method, () => name)
  return statement
} as typeof prepare
wrap(Client.prototype, 'query', ([query]) => {
  const { text } = typeof query === 'string' ? { text: query } : (query as { text?: string })
  return sqlName(text ?? '')
})
