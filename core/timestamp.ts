/**
 * A time in the form of catalog and index: UTC, 20 characters (`2026-11-20T12:00:00Z`); of `later`
 * seconds after `time`.
 */
export function timestamp(time: Date, later = 0): string {
  return `${new Date(time.getTime() + later * 1000).toISOString().slice(0, 19)}Z`
}
