import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** Calls that change files, put them on disk, answer clients, or open descriptors. */
export const CALLS = `
  open openat creat close dup dup2 dup3 fcntl lseek chdir read
  write pwrite64 writev pwritev pwritev2 ftruncate truncate fallocate
  fsync fdatasync sync syncfs copy_file_range sendfile symlink symlinkat
  rename renameat renameat2 link linkat unlink unlinkat
  mkdir mkdirat rmdir clone clone3 fork vfork io_uring_setup`
  .trim()
  .split(/\s+/)

/** A finished system call; `begin` and `end` are line numbers of the recording. */
export interface Call {
  /** The process, which its threads share. */
  readonly process: number
  readonly name: string
  readonly args: readonly string[]
  readonly result: number
  readonly begin: number
  readonly end: number
}

const LINE = /^(\d+)\s+(.*)$/
const RESULT = /^(.*)\)\s+= (-?\d+|0x[0-9a-f]+|\?)(.*)$/

/** Reads the successful calls of `strace -f -yy -xx`, in the order of their ends. */
export async function readCalls(path: string): Promise<Call[]> {
  const calls: Call[] = []
  const pending = new Map<number, { text: string; begin: number }>()
  const parents = new Map<number, number>()
  const processOf = (thread: number): number => {
    const parent = parents.get(thread)
    return parent === undefined ? thread : processOf(parent)
  }
  const raw: (Omit<Call, 'process'> & { readonly thread: number })[] = []
  let at = 0
  for await (const line of createInterface({ input: createReadStream(path, 'latin1') })) {
    at++
    const [, thread = '', text = ''] = LINE.exec(line) ?? []
    const id = Number(thread)
    if (text.endsWith('<unfinished ...>')) {
      pending.set(id, { text: text.slice(0, -'<unfinished ...>'.length), begin: at })
      continue
    }
    let [whole, begin] = [text, at]
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(text)
    if (resumed) {
      const first = pending.get(id)
      pending.delete(id)
      if (!first) continue
      whole = first.text + (resumed[1] ?? '')
      begin = first.begin
    }
    const open = whole.indexOf('(')
    const [, inside = '', value = '?'] = RESULT.exec(whole.slice(open + 1)) ?? []
    if (open < 1 || value === '?' || value.startsWith('-')) continue
    const [name, result] = [whole.slice(0, open), Number(value)]
    if (/^(?:clone3?|v?fork)$/.test(name)) {
      if (inside.includes('CLONE_THREAD')) parents.set(result, id)
      else raw.push({ thread: id, name: 'fork', args: [], result, begin, end: begin })
      continue
    }
    // Another thread may get the number of a descriptor before its closing has returned.
    const end = name === 'close' ? begin : at
    raw.push({ thread: id, name, args: splitArguments(inside), result, begin, end })
  }
  for (const { thread, ...call } of raw) calls.push({ ...call, process: processOf(thread) })
  // A child may act before the parent's call returns.
  return calls.sort((a, b) => a.end - b.end)
}

function splitArguments(text: string): string[] {
  const args: string[] = []
  let [depth, from, quoted] = [0, 0, false]
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    // Everything within quotes is written in hexadecimal.
    if (letter === '"') quoted = !quoted
    else if (quoted) continue
    else if (letter === '{' || letter === '[' || letter === '<') depth++
    else if (letter === '}' || letter === ']' || (letter === '>' && text[at - 1] !== '-')) depth--
    else if (letter === ',' && depth === 0) {
      args.push(text.slice(from, at).trim())
      from = at + 1
    }
  }
  args.push(text.slice(from).trim())
  return args
}

/** The bytes of a quoted argument. */
export function bytesOf(argument: string): Buffer {
  const text = argument.slice(argument.indexOf('"') + 1, argument.lastIndexOf('"'))
  if (argument.endsWith('...')) throw new Error('the recording has cut an argument')
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}

/** The bytes of `[{iov_base="…", iov_len=…}, …]`. */
export function vectorBytes(argument: string): Buffer {
  return Buffer.concat(
    [...argument.matchAll(/iov_base=("[^"]*")/g)].map(match => bytesOf(match[1] ?? '')),
  )
}

/** The number of a descriptor, and its target according to strace. */
export function descriptorOf(argument: string): {
  readonly number: number
  readonly place: string
} {
  const [, number = '-1', place = ''] = /^(\w+)(?:<(.*)>)?$/.exec(argument) ?? []
  const text = place.includes('\\x')
    ? Buffer.from(place.replaceAll('\\x', ''), 'hex').toString()
    : place
  return { number: number === 'AT_FDCWD' ? -100 : Number(number), place: text }
}
