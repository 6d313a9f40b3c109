import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const date = v.pipe(v.string(), v.isoDate())

const versionDays = v.array(v.object({ version: count, downloads: count, date }))

export const crateDownloadsAnswer = v.object({
  version_downloads: versionDays,
  meta: v.object({ extra_downloads: v.array(v.object({ downloads: count, date })) }),
})

/** `before_date`: the last day, `YYYY-MM-DD`; today if it is missing or no date. */
export const versionDownloadsQuery = v.object({ before_date: v.optional(v.string()) })

export const versionDownloadsAnswer = v.object({ version_downloads: versionDays })
