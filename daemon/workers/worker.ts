/** Work behind the answers, which retries what fails. */
export interface Worker {
  /** Begins with the work that must be done before the daemon says that it listens. */
  start(): Promise<void>
  /** Finishes work, for at most `seconds`, and stops. */
  close(seconds: number): Promise<void>
}
