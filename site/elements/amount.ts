/** A size in bytes as people read it: `1.5 KiB`. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  const units = ['KiB', 'MiB', 'GiB']
  let size = count / 1024
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return `${size.toFixed(size < 10 ? 1 : 0)} ${units[unit]}`
}

/** A number with a thin space between thousands: `200 000`. */
export function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f')
}

/** `1 crate`, `2 crates`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`
}
