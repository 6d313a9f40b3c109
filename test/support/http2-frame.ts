/** Returns a frame of HTTP/2 (RFC 9113 §4.1); the numbers of type and stream are small ones. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: readonly number[],
): Buffer {
  return Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload])
}
