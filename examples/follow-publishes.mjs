// A follower that reacts to each publish of a registry with a daemon, over the web. It writes a
// line for each version to a file of events:
//
//   node follow-publishes.mjs https://crates.example.com events.jsonl
//
// The file is its whole memory, so it misses no version and writes none twice, even if it is killed
// or the registry is away for days. It begins with all versions that there are. What reacts to them
// reads the lines, at its own pace. Imported versions with times of the past come with the next
// publish of their crate.
//
// INTERVAL is the number of seconds between two looks, by default 30. For a private registry, TOKEN
// is a token with the scope `read`.
import { open, readFile, truncate } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

/** Clocks of several daemons may differ by a minute; this many seconds are more than enough. */
const MARGIN_SECONDS = 600

const [base, path = 'events.jsonl'] = process.argv.slice(2)
if (!base) throw new Error('usage: node follow-publishes.mjs URL [FILE]')
const interval = Number(process.env.INTERVAL ?? 30) * 1000

/** What was written: versions by crate, and the time of the last publish. */
const known = new Map()
let last = ''
/** The ETag of the feed after the last complete look: it changes with every publish. */
let etag = ''

for (;;) {
  try {
    await remember()
    for (;;) {
      await look()
      await wait(interval)
    }
  } catch (error) {
    // It goes on with what is in the file: a full disk may have cut a line off.
    console.error(`trying again in ${interval / 1000} s: ${error}`)
    await wait(interval)
  }
}

/** Reads the file of events, and cuts off a line that was not written to its end. */
async function remember() {
  const bytes = await readFile(path).catch(error => {
    if (error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  })
  const end = bytes.lastIndexOf('\n') + 1
  if (end < bytes.length) await truncate(path, end)
  for (const line of bytes.subarray(0, end).toString().split('\n'))
    if (line !== '') note(JSON.parse(line))
}

function note({ name, vers, at }) {
  if (!known.has(name)) known.set(name, new Set())
  known.get(name).add(vers)
  if (at > last) last = at
}

/** Writes a line for each version that is new. */
async function look() {
  const feed = await ask('/feeds/updates.xml', etag ? { 'If-None-Match': etag } : {})
  if (feed.status === 304) return
  const changed = await changedCrates()
  const file = await open(path, 'a')
  try {
    // The oldest first: `last` then says up to which one all are written, whenever this is killed.
    for (const crate of changed.reverse()) {
      const events = await newVersions(crate)
      if (events.length === 0) continue
      await file.write(events.map(event => `${JSON.stringify(event)}\n`).join(''))
      await file.sync()
      for (const event of events) {
        note(event)
        console.log(`${event.name} ${event.vers}`)
      }
    }
  } finally {
    await file.close()
  }
  etag = feed.headers.get('etag') ?? ''
}

/** The crates that had a publish since the last look, the last one first. */
async function changedCrates() {
  const since = last && new Date(Date.parse(last) - MARGIN_SECONDS * 1000).toISOString()
  const changed = []
  let query = '?sort=recent-updates&per_page=100'
  while (query) {
    const { crates, meta } = await (await ask(`/api/v1/crates${query}`)).json()
    changed.push(...crates.filter(crate => crate.updated_at >= since))
    const isDone = crates.some(crate => crate.updated_at < since)
    query = isDone ? null : meta.next_page
  }
  return changed
}

/** The versions of a crate that are not in the file, from its index file, as Cargo reads it. */
async function newVersions({ name, updated_at: at }) {
  const lower = name.toLowerCase()
  const folder =
    lower.length < 3
      ? lower.length
      : lower.length === 3
        ? `3/${lower[0]}`
        : `${lower.slice(0, 2)}/${lower.slice(2, 4)}`
  const text = await (await ask(`/index/${folder}/${lower}`)).text()
  const lines = text.split('\n').filter(line => line !== '')
  const seen = known.get(name) ?? new Set()
  return lines
    .map(line => JSON.parse(line))
    .filter(({ vers }) => !seen.has(vers))
    .map(({ vers, cksum }) => ({ at, name, vers, cksum }))
}

/** Asks the registry, when it has time; throws after 30 seconds, and if it answers otherwise. */
async function ask(path, headers = {}) {
  const authorization = process.env.TOKEN ? { Authorization: process.env.TOKEN } : {}
  const answer = await fetch(base.replace(/\/$/, '') + path, {
    headers: { ...headers, ...authorization },
    signal: AbortSignal.timeout(30_000),
  })
  if (answer.ok || answer.status === 304) return answer
  if (answer.status === 429) {
    await wait(Number(answer.headers.get('retry-after') ?? 60) * 1000)
    return ask(path, headers)
  }
  throw new Error(`${path} is answered ${answer.status}`)
}
