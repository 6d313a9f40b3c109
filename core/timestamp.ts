/**
 * Formats the time `later` seconds after `time` as in the catalog and the index: UTC, 20 characters
 * (`2026-11-20T12:00:00Z`).
 */
export function timestamp(time: Date, later = 0): string {
  return `${new Date(time.getTime() + later * 1000).toISOString().slice(0, 19)}Z`
}

/** Whether Cargo accepts `value` as a `pubtime`; any other makes a version unusable. */
export function isPubtime(value: string): boolean {
  // Cargo accepts leap seconds, `Date` does not.
  const text = value.replace(/:60Z$/, ':59Z')
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && timestamp(time) === text
}
