/** A time in the form of catalog and index: UTC, 20 characters (`2026-11-20T12:00:00Z`). */
export function timestamp(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`
}
