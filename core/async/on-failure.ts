/** Is told that background work has failed; and by `done`, where it is there, of each success. */
export interface OnFailure<E = unknown> {
  (error: E): void
  done?(): void
}
