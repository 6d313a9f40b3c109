import * as v from 'valibot'
import type { ReleaseRecord } from '../../generator/records/releases.ts'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const lines = { code_lines: count, comment_lines: count }

export const contentsEntries = {
  /** Lines of Rust, in the shape of crates.io; blank lines are not counted. */
  linecounts: v.nullable(
    v.object({
      languages: v.record(v.string(), v.object({ ...lines, files: count })),
      total_code_lines: count,
      total_comment_lines: count,
    }),
  ),
  unpacked_size: v.nullable(count),
  num_files: v.nullable(count),
}

/** Picks the fields of `contentsEntries`. */
export function contentsView(contents: ReleaseRecord['contents']) {
  if (contents === null) return { linecounts: null, unpacked_size: null, num_files: null }
  const { files, bytes, rust } = contents
  const linecounts = {
    languages: rust.files === 0 ? {} : { Rust: rust },
    total_code_lines: rust.code_lines,
    total_comment_lines: rust.comment_lines,
  }
  return { linecounts, unpacked_size: bytes, num_files: files }
}
