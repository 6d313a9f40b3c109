/** Called when background work fails; `done`, if there is one, is called after each success. */
export interface OnFailure<E = unknown> {
  (error: E): void
  done?(): void
}
