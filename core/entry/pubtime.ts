/**
 * Whether `value` is a valid `pubtime`; any other makes the version unusable (Cargo's index
 * schema).
 */
export function isPubtime(value: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)Z$/.exec(value)
  if (!match) return false
  const [year = 0, month = 0, day = 0] = match.slice(1, 4).map(Number)
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  return days !== undefined && day >= 1 && day <= days
}
