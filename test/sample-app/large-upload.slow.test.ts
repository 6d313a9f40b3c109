import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { until } from '../support/until.ts'
import { BOUNDARY, MULTIPART } from './support/forms.ts'
import { type Program, startProgram } from './support/program.ts'

const MIB = 1024 * 1024
const UPLOAD = 1024 * MIB
const ALLOWED = 64 * MIB
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n`
const TAIL = `\r\n--${BOUNDARY}--\r\n`

const folder = mkdtempSync(join(tmpdir(), 'large-upload-'))
const server = await startProgram(['--example', 'uploads'], {
  TMPDIR: folder,
  TEMP: folder,
  TMP: folder,
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

test('1 GiB passes through with less than 64 MiB of additional memory and leaves no file', async context => {
  await (await upload(server, 8 * MIB)).answer
  const before = residentBytes(server)
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, residentBytes(server))
  }, 50)
  const { status, body } = await (await upload(server, UPLOAD)).answer
  clearInterval(watch)
  assert.deepEqual(
    { status, body },
    { status: 200, body: { filenames: 'big.bin', type: 'UploadFile' } },
  )
  context.diagnostic(`${Math.round((peak - before) / MIB)} MiB of additional memory`)
  assert.ok(peak - before < ALLOWED, `${Math.round((peak - before) / MIB)} MiB more`)
  await nothingLeft(server)
})

test('a client that vanishes halfway leaves no file, and the server goes on', async () => {
  const { sent, answer } = await upload(server, UPLOAD, 32 * MIB)
  assert.equal(openUploads(server), 1)
  sent.destroy()
  await assert.rejects(answer)
  await nothingLeft(server)
  const { status } = await (await upload(server, MIB)).answer
  assert.equal(status, 200)
  assert.equal(server.stderr().includes('Error'), false, server.stderr())
})

/** Streams `size` bytes as a file; with `stopAt` it resolves and stops after that many. */
async function upload({ url }: Program, size: number, stopAt = size) {
  const sent = request(new URL('/uploadfile/', url), {
    method: 'POST',
    agent: false,
    headers: { ...MULTIPART, 'Content-Length': HEAD.length + size + TAIL.length },
  })
  const answer = once(sent, 'response').then(async ([response]) => ({
    status: response.statusCode as number,
    body: JSON.parse(await text(response)) as unknown,
  }))
  answer.catch(() => undefined)
  sent.write(HEAD)
  await stream(sent, stopAt)
  if (stopAt === size) sent.end(TAIL)
  return { sent, answer }
}

async function stream(sent: ClientRequest, size: number): Promise<void> {
  const chunk = Buffer.alloc(MIB, 'x')
  for (let done = 0; done < size; done += chunk.length)
    if (!sent.write(chunk)) await once(sent, 'drain')
}

/** Nothing of an upload is left: no name in the folder for temporary files, no open descriptor that holds disk space. */
async function nothingLeft(program: Program): Promise<void> {
  await until(
    () => openUploads(program) === 0,
    () => `${openUploads(program)} files are open`,
  )
  assert.deepEqual(readdirSync(folder), [])
}

/** The number of the process's open temporary files, which have no name. */
function openUploads({ process }: Program): number {
  const descriptors = `/proc/${process.pid}/fd`
  const links = existsSync(descriptors)
    ? readdirSync(descriptors).flatMap(name => target(join(descriptors, name)))
    : execFileSync('lsof', ['-p', String(process.pid)], { encoding: 'utf8' }).split('\n')
  return links.filter(link => link.includes(folder)).length
}

/** A descriptor may be closed between the listing and the look at it. */
function target(link: string): string[] {
  try {
    return [readlinkSync(link)]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

function residentBytes({ process }: Program): number {
  const status = `/proc/${process.pid}/status`
  const kilobytes = existsSync(status)
    ? /VmRSS:\s*(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(process.pid)], { encoding: 'utf8' })
  return Number(kilobytes) * 1024
}
