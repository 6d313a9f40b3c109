import { jobUrl } from '../../core/trust/job.ts'
import type { VersionRow } from '../crate-data.ts'
import { type Child, html } from '../elements/markup.ts'

/** Renders who published a version: a user, or the job of a CI system; null if it is not known. */
export function publisherOf({ publishedBy, job = null }: VersionRow): Child {
  if (!job) return publishedBy
  const name = `CI of ${job.repository ?? job.subject}`
  const url = jobUrl(job)
  return url === null ? name : html`<a href="${url}" rel="nofollow noopener">${name}</a>`
}
