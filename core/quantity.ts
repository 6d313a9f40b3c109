const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Formats a whole number with separators: `20,000`. */
export function formatNumber(number: number): string {
  // The first number that `Intl` formats takes as long as some commands do.
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Formats a size in bytes: `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const size = bytes / 1024 ** unit
  return `${size.toFixed(unit === 0 || size >= 10 ? 0 : 1)} ${UNITS[unit]}`
}

const MONTHS =
  'January February March April May June July August September October November December'.split(' ')

/** Formats a timestamp as a date in UTC: `27 February 2027`. */
export function dateText(timestamp: string): string {
  const month = MONTHS[Number(timestamp.slice(5, 7)) - 1]
  return `${Number(timestamp.slice(8, 10))} ${month} ${timestamp.slice(0, 4)}`
}

/** Formats a count with its noun: `1 crate`, `20,000 crates`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`
}

export type Units = Readonly<Record<string, number>>

export const DURATIONS: Units = { d: 86_400, h: 3600, m: 60, s: 1 }

/** Formats an amount in the largest unit that divides it; sizes only in powers of 1024. */
export function inUnits(value: number, units: Units): string | number {
  const unit = Object.entries(units).find(
    ([name, factor]) => !/^(?:[GMKk]?B)$/.test(name) && value % factor === 0,
  )
  return unit && value !== 0 ? `${value / unit[1]}${unit[0]}` : value
}

/** Returns which page of a list is shown; an address may name one after the last. */
export function positionText(page: number, last: number): string {
  return page > last ? `There is no page ${page}` : `Page ${page} of ${last}`
}
