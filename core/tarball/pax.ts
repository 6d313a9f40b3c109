import { refuse } from '../error/error.ts'

/** The records of a pax header that decide how a member is read. */
export interface PaxRecords {
  readonly path?: string
  readonly size?: string
}

/**
 * Reads a pax extended header (`LENGTH KEY=VALUE\n` each). Refuses records that readers understand
 * differently: a wrong length, a newline or NUL, a key twice, another character set, sparse maps.
 */
export function readPax(text: string, member: string): PaxRecords {
  const records = new Map<string, string>()
  const lines = text.split('\n')
  if (lines.pop() !== '')
    refuse('archive_header', { path: member, reason: 'its extended header is malformed' })
  for (const line of lines) {
    const match = /^([1-9][0-9]{0,5}) ([^=\0]+)=([^\0]*)$/.exec(line)
    if (!match || Number(match[1]) !== Buffer.byteLength(line) + 1) {
      refuse('archive_header', { path: member, reason: 'its extended header is malformed' })
    }
    const [, , key = '', value = ''] = match
    if (records.has(key))
      refuse('archive_header', { path: member, reason: `its extended header has \`${key}\` twice` })
    if (key.startsWith('GNU.sparse.')) refuse('archive_type', { path: member, type: 'sparse file' })
    if (key === 'hdrcharset' || key === 'linkpath') {
      refuse('archive_header', { path: member, reason: `its extended header has \`${key}\`` })
    }
    records.set(key, value)
  }
  const path = records.get('path')
  const size = records.get('size')
  return { ...(path === undefined ? {} : { path }), ...(size === undefined ? {} : { size }) }
}
