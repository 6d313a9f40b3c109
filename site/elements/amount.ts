const NUMBER = new Intl.NumberFormat('en-US')

/** A number as people write it: `20,000`. */
export function formatNumber(number: number): string {
  return NUMBER.format(number)
}

/** A size in bytes as people read it: `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const unit = Math.min(3, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const size = bytes / 1024 ** unit
  return `${size.toFixed(unit === 0 || size >= 10 ? 0 : 1)} ${['B', 'KiB', 'MiB', 'GiB'][unit]}`
}

/** `1 crate`, `2 crates`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${formatNumber(number)} ${number === 1 ? one : many}`
}
