/** Work behind the answers, which retries what fails. */
export interface Worker {
  /** Begins: does what has to be done before the daemon says that it listens. */
  start(): Promise<void>
  /** Finishes work, for at most `seconds`, and stops. */
  close(seconds: number): Promise<void>
}
